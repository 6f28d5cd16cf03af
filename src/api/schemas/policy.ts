import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { type PrincipalId, parseId } from "../../core/basics/ids.ts";
import { PRINCIPAL_TYPES } from "../../core/model/people/principal.ts";
import type { Condition, Considered, Verdict } from "../../core/model/policies/evaluate-policies.ts";
import {
  ACTIONS_WITH_WORDS,
  type PolicyMatch as Match,
  POLICY_ACTIONS,
  POLICY_EFFECTS,
  type Policy,
  REFUSAL_SIGNS,
  RELATIONS,
  REQUEST_KINDS,
  ROLES,
} from "../../core/model/policies/policy.ts";
import { RUN_PRIORITIES } from "../../core/model/runs/queue-class.ts";
import { PageInfo } from "./page-info.ts";
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

const VERDICT_EXAMPLE = {
  effect: "require_approval" as const,
  reason: REQUEST_EXAMPLE.reason,
  policy: { id: EXAMPLE.id, name: EXAMPLE.name },
  considered: [{ id: EXAMPLE.id, name: EXAMPLE.name, effect: "require_approval" as const, matches: true }],
};

const PolicyEffect = z
  .enum(POLICY_EFFECTS)
  .describe(
    "`require_approval` applies only to words for an agent (`create`, `follow_up`, `steer`). A new run is BLOCKED " +
      "until a person approves it. A follow-up waits, and the run keeps its state.",
  );
const PolicyAction = z
  .enum(POLICY_ACTIONS)
  .describe(
    "The action on a run. `steer` is a follow-up with the delivery `interrupt` or `steer`: a policy for `follow_up` " +
      "also applies to it, unless a policy that names `steer` matches. `approve` is allowed to administrators, and to " +
      "principals that a policy allows by name.",
  );

const PolicyRole = z
  .enum(ROLES)
  .describe(
    "Integrations prove one of these about the author of a message. `write`: may push to the repository. `member`: a " +
      "full member of the workspace. The others are outsiders: `read` (may read the repository; a public one is read " +
      "by everybody), `guest` (a guest of the workspace), `external` (of another workspace), `bot` (a program) and " +
      "`outside` (without any permission). A caller of the API has none of these; the guest of a share link is a " +
      "`guest`. `administrator`: an administrator of the team, wherever the request comes from.",
  );
const PolicyRequestKind = z
  .enum(REQUEST_KINDS)
  .describe(
    "How a message asks for work. `mention`: it names the bot. `command`: a line begins with `/errand`. " +
      "`description`: the text of a new issue or pull request names the bot. `review`: the text of a review does. " +
      "`review_requested`: a person asks the account of the bot for a review. " +
      "`label`: a person puts the label of the bot on an issue or pull request. " +
      "Nobody names the bot with `changes_requested` (a review of a pull request of a run requests changes), " +
      "`failing_checks` and `merge_conflict` (of such a pull request), `pull_request_opened` (which is reviewed only if " +
      "a policy that allows it names this kind) and `new_commits` (of a pull request that is reviewed).",
  );
const PolicyRelation = z.enum(RELATIONS);
const PolicyRefusal = z
  .enum(REFUSAL_SIGNS)
  .describe(
    "How a message that the policy refuses is answered in its thread: by a comment with the reason, by a reaction, or " +
      "not at all. The inbox has the reason in each case. Default: as the file of the repository says, otherwise by a " +
      "comment. Calls of the API always get the reason.",
  );

const URL_LENGTH = 1_000;
const WorkflowMatch = z
  .strictObject({
    issuer: z
      .url({ protocol: /^https?$/ })
      .max(URL_LENGTH)
      .describe("The issuer of the token, exactly as the token names it."),
    audience: textOfCharacters(URL_LENGTH)
      .min(1)
      .optional()
      .describe("Whom the token is for. Default: the public URL of this server."),
    repository_ids: oneOf(MatchedText).describe(
      "The ids of the repositories on their platform. Unlike a name, an id never belongs to another repository later.",
    ),
    refs: oneOf(MatchedText).describe(
      "The branches or tags that the workflow runs on, such as `refs/heads/main`. `*` matches any characters.",
    ),
    events: oneOf(
      MatchedText.refine((event) => !event.startsWith("pull_request"), {
        message: "must not be that of a pull request, whose token does not say whether its code is of a fork",
      }),
    ).describe("What starts the workflow, such as `push`, `schedule` or `workflow_dispatch`."),
  })
  .meta({
    id: "PolicyWorkflow",
    description: "CI workflows, by the OpenID Connect token of their job.",
    examples: [
      {
        issuer: "https://ci.example.com",
        repository_ids: ["812345678"],
        refs: ["refs/heads/main"],
        events: ["push", "schedule"],
      },
    ],
  });

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
    request_kinds: oneOf(PolicyRequestKind)
      .optional()
      .describe("How messages ask for work, on platforms with several ways. Other requests have no kind."),
    principals: oneOf(z.uuid()).optional().describe("The uids of the principals that act."),
    principal_types: oneOf(z.enum(PRINCIPAL_TYPES))
      .optional()
      .describe("`user` (people), `service_account` (programs), or both."),
    environments: oneOf(MatchedText).optional().describe("The uids of the run's environments."),
    agents: oneOf(MatchedText).optional().describe("Names of the agent catalogue."),
    roles: oneOf(PolicyRole)
      .optional()
      .describe(
        "What the caller is. One of the caller's roles is enough. A policy that allows or requires approval applies " +
          "to outsiders of an integration only if it names their role.",
      ),
    bots: oneOf(MatchedText)
      .optional()
      .describe(
        "Ids of bots, as their platform gives them, such as `B024BE7LD`. Together with the role `bot`, it admits programs " +
          "without an account, such as workflows and incoming webhooks.",
      ),
    groups: oneOf(MatchedText)
      .optional()
      .describe(
        "Groups of the caller, as the OpenID Connect issuer named them at the caller's last sign-in. One of them is " +
          "enough. Callers who never signed in that way have none.",
      ),
    models: oneOf(MatchedText)
      .optional()
      .describe("Ids of models, as the configuration of the run names them. A default model is not known."),
    priorities: oneOf(z.enum(RUN_PRIORITIES))
      .optional()
      .describe("The priorities, as the configuration of the run names them. A run without one is `normal`."),
    repositories: oneOf(MatchedText)
      .optional()
      .describe(
        "Repositories as `owner/name`; `*` matches any characters. A policy that allows matches if all repositories of " +
          "the run do; any other policy matches if one does.",
      ),
    relation: PolicyRelation.optional().describe(
      "`own`: the caller created, requested or executes the run. `others`: every other run.",
    ),
    workflow: WorkflowMatch.optional().describe(
      "With this condition the policy decides on no action. It lets workflows exchange the token of their job for a " +
        "key of the principal in `principals` (`POST /agent/keys/exchange`), or, with the effect `deny`, not. " +
        "`principals` must name one principal, and no other condition may be given.",
    ),
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
    refusal: PolicyRefusal.optional(),
  })
  .refine(({ effect, refusal }) => refusal === undefined || effect === "deny", {
    path: ["refusal"],
    message: "needs the effect deny",
  })
  .refine(isAboutWords, {
    path: ["match", "actions"],
    message: `must be only ${ACTIONS_WITH_WORDS.join(", ")}, or absent, with the effect require_approval`,
  })
  .refine(isOneExchange, {
    path: ["match", "workflow"],
    message: "needs the effect allow or deny, one uid in principals, and no other condition",
  })
  .meta({ id: "PolicyRequest", description: "A new or replaced policy.", examples: [REQUEST_EXAMPLE] });
export type PolicyRequest = z.output<typeof PolicyRequest>;

export const PolicyItem = z
  .object({
    ...ruleMembers,
    effect: PolicyEffect,
    match: PolicyMatch,
    reason: z.string().optional().describe("Shown to callers that are refused or must wait."),
    refusal: PolicyRefusal.optional(),
    builtin: z
      .literal(true)
      .optional()
      .describe("One of the defaults, which come after all others. It cannot be changed or deleted."),
    created_by: ruleMembers.created_by
      .optional()
      .describe("The uid of the principal that created the rule. Absent for a built-in one."),
  })
  .meta({
    id: "Policy",
    description:
      "A rule about who may do what, and from where. The first policy that matches decides. The built-in ones come " +
      "last and match every action.",
    examples: [EXAMPLE],
  });
export type PolicyItem = z.output<typeof PolicyItem>;

export const ListPoliciesResponse = z
  .object({ policies: z.array(PolicyItem).describe("In the order of evaluation."), page_info: PageInfo })
  .meta({
    id: "ListPoliciesResponse",
    description: "All policies of the team, including disabled ones, and the built-in ones after them.",
    examples: [{ policies: [EXAMPLE], page_info: { has_next_page: false } }],
  });

export const EvaluatePolicyRequest = z
  .object({
    action: PolicyAction,
    source: RunSourceType.optional().describe("Default: `API`."),
    principal_uid: z.uuid().optional().describe("The uid of the principal that acts."),
    integration: MatchedText.optional().describe("The integration of the request."),
    installation: MatchedText.optional().describe("The workspace, organisation or account."),
    place: MatchedText.optional().describe("The channel or repository."),
    request_kind: PolicyRequestKind.optional().describe("How a message asks for work."),
    environment_id: MatchedText.optional().describe("The environment of the run."),
    agent: MatchedText.optional().describe("The agent of the run."),
    roles: oneOf(PolicyRole).optional().describe("The roles of the caller."),
    bot: MatchedText.optional().describe("The id of the bot that asks."),
    groups: oneOf(MatchedText).optional().describe("The groups of the caller."),
    model: MatchedText.optional().describe("The model that the configuration of the run names."),
    priority: z.enum(RUN_PRIORITIES).optional().describe("The priority of the run. Unknown if absent."),
    repositories: oneOf(MatchedText).optional().describe("The repositories of the run, as `owner/name`."),
    relation: PolicyRelation.optional().describe("Whether the run is the caller's own. Unknown if absent."),
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
      .describe("The policy that decides. It may be a built-in one."),
    considered: z.array(ConsideredPolicy).describe("All evaluated policies, in order."),
  })
  .meta({
    id: "PolicyVerdict",
    description: "The decision of the policies and its reason. The action itself is not performed.",
    examples: [VERDICT_EXAMPLE],
  });
type PolicyVerdict = z.output<typeof PolicyVerdict>;

export function policyEditOf(request: PolicyRequest) {
  const { effect, match = {}, reason, refusal } = request;
  return { ...ruleEditOf(request), effect, match: matchOf(match), ...defined({ reason, refusal }) };
}

export function policyItem(policy: Policy): PolicyItem {
  const { builtin, effect, match, reason, refusal } = policy;
  const item = { effect, match: matchItem(match), ...defined({ reason, refusal }) };
  const { created_by, ...rule } = ruleItem(policy);
  return builtin === true ? { ...rule, ...item, builtin } : { ...rule, created_by, ...item };
}

export function verdictItem({ effect, reason, policy, considered }: Verdict): PolicyVerdict {
  const { id, name } = policy;
  return { effect, reason, policy: { id, name }, considered: considered.map(consideredItem) };
}

function consideredItem({ policy: { id, name, effect }, mismatch }: Considered) {
  if (mismatch === undefined) {
    return { id, name, effect, matches: true };
  }
  return { id, name, effect, matches: false, mismatch: NAMES[mismatch] ?? mismatch };
}

/** Conditions that have another name in the API. */
const NAMES: Partial<Record<Condition, keyof PolicyMatch>> = {
  principalTypes: "principal_types",
  requestKinds: "request_kinds",
};

function matchOf(request: PolicyMatch): Match {
  const {
    principal_types: principalTypes,
    principals,
    request_kinds: requestKinds,
    workflow,
    ...match
  } = request;
  return {
    ...match,
    ...defined({
      principals: principals?.flatMap((uid) => parseId<PrincipalId>(uid) ?? []),
      principalTypes,
      requestKinds,
      workflow: workflow && workflowOf(workflow),
    }),
  };
}

function matchItem({ principalTypes, requestKinds, workflow, ...match }: Match): PolicyMatch {
  const members = defined({
    principal_types: principalTypes,
    request_kinds: requestKinds,
    workflow: workflow && workflowItem(workflow),
  });
  return { ...match, ...members } as PolicyMatch;
}

function workflowOf({ repository_ids: repositoryIds, ...workflow }: z.output<typeof WorkflowMatch>) {
  return { ...workflow, repositoryIds };
}

function workflowItem({ repositoryIds, ...workflow }: NonNullable<Match["workflow"]>) {
  return { ...workflow, repository_ids: repositoryIds };
}

interface EffectAndMatch {
  readonly effect: Policy["effect"];
  readonly match?: PolicyMatch | undefined;
}

function isOneExchange({ effect, match: { workflow, principals, ...others } = {} }: EffectAndMatch): boolean {
  return (
    workflow === undefined ||
    (effect !== "require_approval" && principals?.length === 1 && Object.keys(others).length === 0)
  );
}

function isAboutWords({ effect, match }: EffectAndMatch): boolean {
  const actions = match?.actions ?? [];
  return (
    effect !== "require_approval" ||
    actions.every((action) => ACTIONS_WITH_WORDS.some((name) => name === action))
  );
}
