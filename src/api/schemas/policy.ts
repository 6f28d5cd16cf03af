import { z } from "zod";
import type { PrincipalId } from "../../core/ids.ts";
import { PRINCIPAL_TYPES } from "../../core/people/principal.ts";
import type { Condition, Considered, Verdict } from "../../core/policies/evaluate-policies.ts";
import {
  type PolicyMatch as Match,
  POLICY_ACTIONS,
  POLICY_EFFECTS,
  type Policy,
} from "../../core/policies/policy.ts";
import {
  MatchedText,
  oneOf,
  placeConditions,
  ruleEditOf,
  ruleItem,
  ruleMembers,
  ruleRequest,
} from "./rule-parts.ts";
import { RunSourceType } from "./run-item.ts";
import { textOfCharacters } from "./text.ts";

const REASON_LENGTH = 1_000;
const REQUEST_EXAMPLE = {
  name: "Production waits for a second look",
  effect: "require_approval",
  match: { environments: ["3sVb9qTz1LxYw7KpR2nMcA"], sources: ["SLACK", "GITHUB_WEBHOOK"] },
  priority: 10,
  reason: "Runs in production are approved by the platform team.",
};
const EXAMPLE = {
  ...REQUEST_EXAMPLE,
  id: "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d70",
  enabled: true,
  created_by: "0195b2a0-0000-7000-8000-000000000001",
  created_at: "2026-03-01T09:00:00.000Z",
  updated_at: "2026-03-01T09:00:00.000Z",
};

const PolicyEffect = z
  .enum(POLICY_EFFECTS)
  .describe("`require_approval` applies only to new runs: they are BLOCKED until a person approves them.");
const PolicyAction = z
  .enum(POLICY_ACTIONS)
  .describe(
    "The action on a run. `approve` is allowed to administrators, and to principals that a policy allows by name.",
  );

/** Strict, unlike other bodies: ignoring a misspelt condition would allow or forbid more than intended. */
const PolicyMatch = z
  .strictObject({
    actions: oneOf(PolicyAction).optional().describe("The actions."),
    sources: oneOf(RunSourceType)
      .optional()
      .describe(
        "The sources of the request. API callers choose `CLI`, `GITHUB_ACTION` and `LOCAL` themselves. Therefore a " +
          "policy that denies or requires approval for `API` also applies to these three.",
      ),
    ...placeConditions,
    principals: oneOf(z.uuid()).optional().describe("The uids of the principals that act."),
    principal_types: oneOf(z.enum(PRINCIPAL_TYPES))
      .optional()
      .describe("`user` (people), `service_account` (programs), or both."),
    environments: oneOf(MatchedText).optional().describe("The uids of the run's environments."),
    agents: oneOf(MatchedText).optional().describe("Names of the agent catalogue."),
  })
  .meta({
    id: "PolicyMatch",
    description:
      "All conditions must hold. A list holds if one of its values matches. A condition about an unknown value " +
      "does not hold. Without conditions, everything matches.",
    examples: [REQUEST_EXAMPLE.match],
  });
type PolicyMatch = z.output<typeof PolicyMatch>;

export const PolicyRequest = z
  .object({
    ...ruleRequest,
    effect: PolicyEffect,
    match: PolicyMatch.optional(),
    reason: textOfCharacters(REASON_LENGTH)
      .optional()
      .describe("Shown to callers that are refused or must wait."),
  })
  .refine(isAboutNewRuns, {
    path: ["match", "actions"],
    message: "must be only create, or absent, with the effect require_approval",
  })
  .meta({ id: "PolicyRequest", description: "A new or replaced policy.", examples: [REQUEST_EXAMPLE] });
export type PolicyRequest = z.output<typeof PolicyRequest>;

export const PolicyItem = z
  .object({
    ...ruleMembers,
    effect: PolicyEffect,
    match: PolicyMatch,
    reason: z.string().optional().describe("Shown to callers that are refused or must wait."),
  })
  .meta({
    id: "Policy",
    description:
      "A rule about who may do what, and from where. The first policy that matches decides. If none matches, the " +
      "action is allowed.",
    examples: [EXAMPLE],
  });
export type PolicyItem = z.output<typeof PolicyItem>;

export const ListPoliciesResponse = z
  .object({ policies: z.array(PolicyItem).describe("In the order of evaluation.") })
  .meta({
    id: "ListPoliciesResponse",
    description: "All policies of the team, including disabled ones.",
    examples: [{ policies: [EXAMPLE] }],
  });

export const EvaluatePolicyRequest = z
  .object({
    action: PolicyAction,
    source: RunSourceType.optional().describe("Default: `API`."),
    principal_uid: z.uuid().optional().describe("The uid of the principal that acts."),
    integration: MatchedText.optional().describe("The integration of the request."),
    installation: MatchedText.optional().describe("The workspace, organisation or account."),
    place: MatchedText.optional().describe("The channel or repository."),
    environment_id: MatchedText.optional().describe("The environment of the run."),
    agent: MatchedText.optional().describe("The agent of the run."),
  })
  .meta({
    id: "EvaluatePolicyRequest",
    description: "A hypothetical action.",
    examples: [{ action: "create", source: "SLACK", place: "C024BE91L", agent: "demo" }],
  });
export type EvaluatePolicyRequest = z.output<typeof EvaluatePolicyRequest>;

const ConsideredPolicy = z.object({
  id: z.uuid().describe("The policy's id."),
  name: z.string().describe("The policy's name."),
  effect: PolicyEffect,
  matches: z.boolean().describe("Whether the policy matches and therefore decides."),
  mismatch: z.string().optional().describe("The first condition that does not hold."),
});

export const PolicyVerdict = z
  .object({
    effect: PolicyEffect,
    reason: z.string().describe("The reason that the caller would see."),
    policy: z
      .object({ id: z.uuid().describe("The policy's id."), name: z.string().describe("The policy's name.") })
      .optional()
      .describe("The policy that decides. Absent if none matches."),
    considered: z.array(ConsideredPolicy).describe("All evaluated policies, in order."),
  })
  .meta({
    id: "PolicyVerdict",
    description: "The decision of the policies and its reason. The action itself is not performed.",
    examples: [{ effect: "allow", reason: "No policy matches, so it is allowed.", considered: [] }],
  });
type PolicyVerdict = z.output<typeof PolicyVerdict>;

export function policyEditOf(request: PolicyRequest) {
  const { effect, match = {}, reason } = request;
  const reasonMember = reason === undefined ? {} : { reason };
  return { ...ruleEditOf(request), effect, match: matchOf(match), ...reasonMember };
}

export function policyItem(policy: Policy): PolicyItem {
  const { effect, match, reason } = policy;
  const reasonMember = reason === undefined ? {} : { reason };
  return { ...ruleItem(policy), effect, match: matchItem(match), ...reasonMember };
}

export function verdictItem({ effect, reason, policy, considered }: Verdict): PolicyVerdict {
  const decided = policy === undefined ? {} : { policy: { id: policy.id, name: policy.name } };
  return { effect, reason, ...decided, considered: considered.map(consideredItem) };
}

function consideredItem({ policy: { id, name, effect }, mismatch }: Considered) {
  if (mismatch === undefined) {
    return { id, name, effect, matches: true };
  }
  return { id, name, effect, matches: false, mismatch: NAMES[mismatch] ?? mismatch };
}

/** Conditions that have another name in the API. */
const NAMES: Partial<Record<Condition, keyof PolicyMatch>> = { principalTypes: "principal_types" };

function matchOf({ principal_types: principalTypes, principals, ...match }: PolicyMatch): Match {
  return {
    ...match,
    ...(principals === undefined
      ? {}
      : { principals: principals.map((uid) => uid.toLowerCase() as PrincipalId) }),
    ...(principalTypes === undefined ? {} : { principalTypes }),
  };
}

function matchItem({ principalTypes, ...match }: Match): PolicyMatch {
  const types = principalTypes === undefined ? {} : { principal_types: [...principalTypes] };
  return { ...match, ...types } as PolicyMatch;
}

interface EffectAndMatch {
  readonly effect: Policy["effect"];
  readonly match?: { readonly actions?: readonly string[] | undefined } | undefined;
}

function isAboutNewRuns({ effect, match }: EffectAndMatch): boolean {
  const actions = match?.actions ?? [];
  return effect !== "require_approval" || actions.every((action) => action === "create");
}
