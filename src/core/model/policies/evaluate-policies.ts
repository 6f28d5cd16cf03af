import { defined } from "../../basics/defined.ts";
import { AppError } from "../../basics/errors.ts";
import type { PrincipalId } from "../../basics/ids.ts";
import { keysOf } from "../../basics/keys-of.ts";
import type { PrincipalType } from "../people/principal.ts";
import type { RunPriority } from "../runs/queue-class.ts";
import type { Approval } from "../runs/run.ts";
import { CLAIMED_SOURCES, INTEGRATION_SOURCES } from "../runs/sources.ts";
import { BUILTIN_POLICIES } from "./builtin-policies.ts";
import {
  ACTIONS_WITH_WORDS,
  OUTSIDER_ROLES,
  POLICY_ACTIONS,
  type Policy,
  type PolicyAction,
  type PolicyEffect,
  type PolicyMatch,
  type Relation,
  UNADDRESSED_KINDS,
} from "./policy.ts";
import type { RequestOrigin } from "./request-origin.ts";
import { isAmong, matchesOneGlob } from "./rule.ts";

/** An action that a principal requests. Unknown members are left out. */
export interface ActionRequest extends Partial<RequestOrigin> {
  readonly action: PolicyAction;
  readonly principalId?: PrincipalId;
  readonly principalType?: PrincipalType | undefined;
  readonly environmentId?: string | undefined;
  readonly agent?: string;
  readonly groups?: readonly string[] | undefined;
  readonly model?: string | undefined;
  readonly priority?: RunPriority;
  /** `owner/name` of each repository of the run. */
  readonly repositories?: readonly string[] | undefined;
  readonly relation?: Relation | undefined;
}

export interface Verdict {
  readonly effect: PolicyEffect;
  readonly reason: string;
  /** The policy that decided. */
  readonly policy: Policy;
  /** All evaluated policies in order. The last one decided, unless it has a mismatch. */
  readonly considered: readonly Considered[];
}

export interface Considered {
  readonly policy: Policy;
  /** The first condition that does not hold. */
  readonly mismatch?: Condition;
}

export type Condition = keyof PolicyMatch;

type Caller = Omit<ActionRequest, "action">;
type Check = (match: PolicyMatch, caller: Caller, effect: PolicyEffect) => boolean;

/** The conditions besides `actions`. */
const CHECKS: Readonly<Record<Exclude<Condition, "actions">, Check>> = {
  sources: ({ sources }, { source }, effect) =>
    isAmong(sources, source) || isClaimOf(sources, source, effect),
  integrations: ({ integrations }, { integration }) => isAmong(integrations, integration),
  installations: ({ installations }, { installation }) => isAmong(installations, installation),
  places: ({ places }, { place }) => matchesOneGlob(places, place),
  requestKinds: ({ requestKinds }, { requestKind }) => isAmong(requestKinds, requestKind),
  principals: ({ principals }, { principalId }) => isAmong(principals, principalId),
  principalTypes: ({ principalTypes }, { principalType }) => isAmong(principalTypes, principalType),
  environments: ({ environments }, { environmentId }) => isAmong(environments, environmentId),
  agents: ({ agents }, { agent }) => isAmong(agents, agent),
  roles: ({ roles }, caller, effect) =>
    containsAny(roles, caller.roles) && (roles !== undefined || effect === "deny" || !isOutsider(caller)),
  bots: ({ bots }, { bot, isByNameOnly }, effect) =>
    isAmong(bots, bot) && (bots !== undefined || effect === "deny" || isByNameOnly !== true),
  groups: ({ groups }, action) => containsAny(groups, action.groups),
  models: ({ models }, { model }) => isAmong(models, model),
  priorities: ({ priorities }, { priority }) => isAmong(priorities, priority),
  repositories: ({ repositories }, action, effect) => concernsAny(repositories, action.repositories, effect),
  relation: (match, { relation }) => match.relation === undefined || match.relation === relation,
  workflow: ({ workflow }) => workflow === undefined,
};
const OTHER_CONDITIONS = keysOf(CHECKS);
/** The conditions that can be checked before a message has an author and a run. */
const CONDITIONS_ON_MESSAGES = [
  "sources",
  "integrations",
  "installations",
  "places",
  "requestKinds",
  "roles",
  "bots",
  "workflow",
] as const;

/**
 * The first policy that matches decides. `policies` are those of the team, in order; the built-in ones follow them. A
 * policy that names `follow_up` also applies to `steer`, unless a policy that names `steer` matches.
 */
export function evaluatePolicies(policies: readonly Policy[], action: ActionRequest): Verdict {
  const all = [...policies, ...BUILTIN_POLICIES];
  const covered = coveredActions(policies, action);
  const considered: Considered[] = [];
  for (const policy of all) {
    const mismatch = mismatchOf(policy, action, covered);
    considered.push(mismatch === undefined ? { policy } : { policy, mismatch });
    if (mismatch === undefined) {
      return { effect: policy.effect, reason: reasonOf(policy), policy, considered };
    }
  }
  throw new Error("One of the built-in policies matches every action.");
}

/** Whether the caller comes from an integration that proved only a role of outsiders. */
export function isOutsider({ roles = [], source }: Pick<Caller, "roles" | "source">): boolean {
  return (
    INTEGRATION_SOURCES.some((name) => name === source) &&
    roles.some((role) => OUTSIDER_ROLES.some((name) => name === role))
  );
}

/**
 * The policy that denies an outsider everything in this place. Undefined: one may allow something, or let it wait for approval.
 * Which action it is decides later. A message in which nobody named the bot only asks for work.
 */
export function refusingPolicy(policies: readonly Policy[], caller: Caller): Policy | undefined {
  const isUnaddressed = UNADDRESSED_KINDS.some((kind) => kind === caller.requestKind);
  const actions: readonly PolicyAction[] = isUnaddressed ? ACTIONS_WITH_WORDS : POLICY_ACTIONS;
  const deciding = [...policies, ...BUILTIN_POLICIES].find(
    ({ effect, match }) =>
      CONDITIONS_ON_MESSAGES.every((condition) => CHECKS[condition](match, caller, effect)) &&
      (effect === "deny"
        ? keysOf(match).every((name) => isOnMessages(name))
        : actions.some((action) => isAmong(match.actions, action))),
  );
  return deciding?.effect === "deny" ? deciding : undefined;
}

const CONDITIONS_ON_PLACES = ["sources", "integrations", "installations", "places", "workflow"] as const;

/** Whether a policy of the team names this kind of request here, before anybody is asked about its author. */
export function isKindNamed(policies: readonly Policy[], caller: Caller): boolean {
  return policies.some(
    ({ effect, match }) =>
      effect !== "deny" &&
      match.requestKinds !== undefined &&
      CHECKS.requestKinds(match, caller, effect) &&
      CONDITIONS_ON_PLACES.every((condition) => CHECKS[condition](match, caller, effect)),
  );
}

function isOnMessages(name: Condition): boolean {
  return CONDITIONS_ON_MESSAGES.some((condition) => condition === name);
}

const STRICTNESS: readonly PolicyEffect[] = ["allow", "require_approval", "deny"];

/** The stricter of two verdicts on one action; the first one if both have the same effect. */
export function stricter(one: Verdict, other: Verdict): Verdict {
  return STRICTNESS.indexOf(other.effect) > STRICTNESS.indexOf(one.effect) ? other : one;
}

/** The policy that wants an approval, and why. */
export type RequiredApproval = Pick<Approval, "policyId" | "reason">;

export function requiredApproval({ effect, policy, reason }: Verdict): RequiredApproval | undefined {
  return effect === "require_approval" ? { policyId: policy.id, reason } : undefined;
}

/** The caller's names for what the conditions are about. */
export type ConditionMembers = Readonly<Partial<Record<Condition, string>>>;

/**
 * Throws an error with the reason if the action is not allowed. It names those of the `members` that the policy looks at,
 * because another value may be allowed.
 */
export function requireAllowed({ effect, policy, reason }: Verdict, members: ConditionMembers = {}): void {
  if (effect !== "deny") {
    return;
  }
  const message = `is refused by the policy "${policy.name}"`;
  const issues = keysOf(members).flatMap((condition) => {
    const path = members[condition];
    return path === undefined || policy.match[condition] === undefined ? [] : [{ path, message }];
  });
  throw new AppError("not_authorized", reason, {
    policyName: policy.name,
    remedy: "Ask an administrator of your team to change its policies.",
    ...defined({ issues: issues.length === 0 ? undefined : issues }),
  });
}

/** The names under which a policy may list the action. */
function coveredActions(policies: readonly Policy[], request: ActionRequest): readonly PolicyAction[] {
  const { action } = request;
  if (action !== "steer") {
    return [action];
  }
  const isNamed = policies.some(
    (policy) =>
      policy.match.actions?.includes(action) === true && mismatchOf(policy, request, [action]) === undefined,
  );
  return isNamed ? [action] : [action, "follow_up"];
}

function mismatchOf(
  { effect, match }: Policy,
  request: ActionRequest,
  covered: readonly PolicyAction[],
): Condition | undefined {
  const isNamed = covered.some((action) => isAmong(match.actions, action));
  if (!isNamed || !concerns(effect, match, request.action)) {
    return "actions";
  }
  return OTHER_CONDITIONS.find((condition) => !CHECKS[condition](match, request, effect));
}

function containsAny<T>(wanted: readonly T[] | undefined, values: readonly T[] = []): boolean {
  return wanted === undefined || values.some((value) => wanted.includes(value));
}

/** A policy that allows one repository must not allow a run that also uses another one. */
function concernsAny(
  globs: readonly string[] | undefined,
  repositories: readonly string[] = [],
  effect: PolicyEffect,
): boolean {
  if (globs === undefined) {
    return true;
  }
  const matches = (repository: string) => matchesOneGlob(globs, repository);
  return effect === "allow"
    ? repositories.length > 0 && repositories.every(matches)
    : repositories.some(matches);
}

/**
 * A policy that forbids callers of the API also applies to callers that claim another source, because a claim cannot
 * be proved.
 */
function isClaimOf(
  sources: PolicyMatch["sources"],
  source: ActionRequest["source"],
  effect: PolicyEffect,
): boolean {
  return effect !== "allow" && source !== undefined && CLAIMED_SOURCES.has(source) && isAmong(sources, "API");
}

/** Only words for an agent wait for approval. A policy grants the right to approve only if it names that action. */
function concerns(effect: PolicyEffect, { actions }: PolicyMatch, action: PolicyAction): boolean {
  if (effect === "require_approval") {
    return ACTIONS_WITH_WORDS.some((name) => name === action);
  }
  return action !== "approve" || effect === "deny" || actions !== undefined;
}

function reasonOf({ name, reason }: Policy): string {
  return reason ?? `The policy "${name}" says so.`;
}
