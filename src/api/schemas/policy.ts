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
  .describe("`require_approval` is about new runs alone: they are BLOCKED until somebody approves.");
const PolicyAction = z
  .enum(POLICY_ACTIONS)
  .describe(
    "What is done to a run. `approve` is allowed to administrators, and to whom a policy allows it by name.",
  );

/** Strict, unlike other bodies: a misspelt condition that is ignored would allow or forbid more than was meant. */
const PolicyMatch = z
  .strictObject({
    actions: oneOf(PolicyAction).optional().describe("What is done."),
    sources: oneOf(RunSourceType)
      .optional()
      .describe(
        "Where the request came from. `CLI`, `GITHUB_ACTION` and `LOCAL` are what callers of the API say of themselves: a " +
          "policy that denies, or asks for approval, means them too where it names `API`.",
      ),
    ...placeConditions,
    principals: oneOf(z.uuid()).optional().describe("Who does it: uids of principals."),
    principal_types: oneOf(z.enum(PRINCIPAL_TYPES)).optional().describe("People, programs, or both."),
    environments: oneOf(MatchedText).optional().describe("Uids of environments that the run works in."),
    agents: oneOf(MatchedText).optional().describe("Names of the agent catalogue."),
  })
  .meta({
    id: "PolicyMatch",
    description:
      "All that is given must hold; of each list, one. A condition about what is not known does not hold. Without any it " +
      "is about everything.",
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
      .describe("Said to whoever is refused, or has to wait."),
  })
  .refine(isAboutNewRuns, {
    path: ["match", "actions"],
    message: "must be create alone, or left out, with the effect require_approval",
  })
  .meta({ id: "PolicyRequest", description: "A policy to be.", examples: [REQUEST_EXAMPLE] });
export type PolicyRequest = z.output<typeof PolicyRequest>;

export const PolicyItem = z
  .object({
    ...ruleMembers,
    effect: PolicyEffect,
    match: PolicyMatch,
    reason: z.string().optional().describe("Said to whoever is refused, or has to wait."),
  })
  .meta({
    id: "Policy",
    description: "Who may do what from where. The first that matches decides; what none matches is allowed.",
    examples: [EXAMPLE],
  });
export type PolicyItem = z.output<typeof PolicyItem>;

export const ListPoliciesResponse = z
  .object({ policies: z.array(PolicyItem).describe("In the order in which they are looked at.") })
  .meta({
    id: "ListPoliciesResponse",
    description: "All policies of the team, those that are switched off too.",
    examples: [{ policies: [EXAMPLE] }],
  });

export const EvaluatePolicyRequest = z
  .object({
    action: PolicyAction,
    source: RunSourceType.optional().describe("Default: `API`."),
    principal_uid: z.uuid().optional().describe("Who does it."),
    integration: MatchedText.optional().describe("The integration it came through."),
    installation: MatchedText.optional().describe("Its workspace, organisation or account."),
    place: MatchedText.optional().describe("Its channel or repository."),
    environment_id: MatchedText.optional().describe("The environment of the run."),
    agent: MatchedText.optional().describe("The agent of the run."),
  })
  .meta({
    id: "EvaluatePolicyRequest",
    description: "Something that somebody might do.",
    examples: [{ action: "create", source: "SLACK", place: "C024BE91L", agent: "demo" }],
  });
export type EvaluatePolicyRequest = z.output<typeof EvaluatePolicyRequest>;

const ConsideredPolicy = z.object({
  id: z.uuid().describe("The policy."),
  name: z.string().describe("Its name."),
  effect: PolicyEffect,
  matches: z.boolean().describe("Whether it matches, and so decides."),
  mismatch: z.string().optional().describe("The first of its conditions that does not hold."),
});

export const PolicyVerdict = z
  .object({
    effect: PolicyEffect,
    reason: z.string().describe("What would be said."),
    policy: z
      .object({ id: z.uuid().describe("Its id."), name: z.string().describe("Its name.") })
      .optional()
      .describe("The policy that decides; absent where none matches."),
    considered: z.array(ConsideredPolicy).describe("All that were looked at, in their order."),
  })
  .meta({
    id: "PolicyVerdict",
    description: "What the policies say of it, and why. Nothing was done.",
    examples: [{ effect: "allow", reason: "No policy matches, so it is allowed.", considered: [] }],
  });
type PolicyVerdict = z.output<typeof PolicyVerdict>;

export function policyEditOf(request: PolicyRequest) {
  const { effect, match = {}, reason } = request;
  const said = reason === undefined ? {} : { reason };
  return { ...ruleEditOf(request), effect, match: matchOf(match), ...said };
}

export function policyItem(policy: Policy): PolicyItem {
  const { effect, match, reason } = policy;
  const said = reason === undefined ? {} : { reason };
  return { ...ruleItem(policy), effect, match: matchItem(match), ...said };
}

export function verdictItem({ effect, reason, policy, considered }: Verdict): PolicyVerdict {
  const decided = policy === undefined ? {} : { policy: { id: policy.id, name: policy.name } };
  return { effect, reason, ...decided, considered: considered.map(consideredItem) };
}

function consideredItem({ policy: { id, name, effect }, mismatch }: Considered) {
  if (mismatch === undefined) return { id, name, effect, matches: true };
  return { id, name, effect, matches: false, mismatch: NAMES[mismatch] ?? mismatch };
}

/** Conditions whose name differs here. */
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
