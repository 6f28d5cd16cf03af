import { AppError } from "../errors.ts";
import type { PrincipalId } from "../ids.ts";
import type { PrincipalType } from "../people/principal.ts";
import { isAmong, matchesOneGlob } from "../rules/conditions.ts";
import type { RequestOrigin } from "../runs/request-origin.ts";
import { CLAIMED_SOURCES } from "../runs/sources.ts";
import type { Policy, PolicyAction, PolicyEffect, PolicyMatch } from "./policy.ts";

/** An action that a principal requests. Unknown members are left out. */
export interface ActionRequest extends Partial<RequestOrigin> {
  readonly action: PolicyAction;
  readonly principalId?: PrincipalId;
  readonly principalType?: PrincipalType | undefined;
  readonly isAdministrator: boolean;
  readonly environmentId?: string | undefined;
  readonly agent?: string;
}

export interface Verdict {
  readonly effect: PolicyEffect;
  readonly reason: string;
  /** The policy that decided. */
  readonly policy?: Policy;
  /** All evaluated policies in order. The last one decided, unless it has a mismatch. */
  readonly considered: readonly Considered[];
}

export interface Considered {
  readonly policy: Policy;
  /** The first condition that does not hold. */
  readonly mismatch?: Condition;
}

export type Condition = keyof PolicyMatch;

type Check = (match: PolicyMatch, action: ActionRequest, effect: PolicyEffect) => boolean;

const CHECKS: Readonly<Record<Condition, Check>> = {
  actions: ({ actions }, { action }) => isAmong(actions, action),
  sources: ({ sources }, { source }, effect) =>
    isAmong(sources, source) || isClaimOf(sources, source, effect),
  integrations: ({ integrations }, { integration }) => isAmong(integrations, integration),
  installations: ({ installations }, { installation }) => isAmong(installations, installation),
  places: ({ places }, { place }) => matchesOneGlob(places, place),
  principals: ({ principals }, { principalId }) => isAmong(principals, principalId),
  principalTypes: ({ principalTypes }, { principalType }) => isAmong(principalTypes, principalType),
  environments: ({ environments }, { environmentId }) => isAmong(environments, environmentId),
  agents: ({ agents }, { agent }) => isAmong(agents, agent),
};
const CONDITIONS = Object.keys(CHECKS) as readonly Condition[];

/** The first policy that matches decides. `policies` must be in order. */
export function evaluatePolicies(policies: readonly Policy[], action: ActionRequest): Verdict {
  const considered: Considered[] = [];
  for (const policy of policies) {
    const mismatch = mismatchOf(policy, action);
    considered.push(mismatch === undefined ? { policy } : { policy, mismatch });
    if (mismatch !== undefined) {
      continue;
    }
    return { effect: policy.effect, reason: reasonOf(policy), policy, considered };
  }
  return { ...unmatched(action), considered };
}

const STRICTNESS: readonly PolicyEffect[] = ["allow", "require_approval", "deny"];

/** The stricter of two verdicts on one action; the first one if both have the same effect. */
export function stricter(one: Verdict, other: Verdict): Verdict {
  return STRICTNESS.indexOf(other.effect) > STRICTNESS.indexOf(one.effect) ? other : one;
}

/** Throws an error with the reason if the action is not allowed. */
export function requireAllowed({ effect, reason }: Verdict): void {
  if (effect !== "deny") {
    return;
  }
  throw new AppError("not_authorized", reason, {
    remedy: "Ask an administrator of your team to change its policies.",
  });
}

function mismatchOf({ effect, match }: Policy, action: ActionRequest): Condition | undefined {
  if (!concerns(effect, match, action.action)) {
    return "actions";
  }
  return CONDITIONS.find((condition) => !CHECKS[condition](match, action, effect));
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

/** Only new runs wait for approval. A policy grants the right to approve only if it names that action. */
function concerns(effect: PolicyEffect, { actions }: PolicyMatch, action: PolicyAction): boolean {
  if (effect === "require_approval") {
    return action === "create";
  }
  return action !== "approve" || effect === "deny" || actions !== undefined;
}

function unmatched({ action, isAdministrator }: ActionRequest): Pick<Verdict, "effect" | "reason"> {
  if (action !== "approve") {
    return { effect: "allow", reason: "No policy matches, so it is allowed." };
  }
  const reason = "Without a policy that allows it by name, only administrators approve.";
  return { effect: isAdministrator ? "allow" : "deny", reason };
}

function reasonOf({ name, reason }: Policy): string {
  return reason ?? `The policy "${name}" says so.`;
}
