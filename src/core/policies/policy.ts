import type { PrincipalId } from "../ids.ts";
import type { PrincipalType } from "../people/principal.ts";
import type { Rule } from "../rules/rule.ts";
import type { RunSource } from "../runs/sources.ts";

/** The actions on runs that policies distinguish. */
export const POLICY_ACTIONS = ["create", "follow_up", "cancel", "answer", "approve"] as const;
export type PolicyAction = (typeof POLICY_ACTIONS)[number];

export const POLICY_EFFECTS = ["allow", "deny", "require_approval"] as const;
export type PolicyEffect = (typeof POLICY_EFFECTS)[number];

/** Says who may do what from where. An action that no policy matches is allowed. */
export interface Policy extends Rule {
  /** `require_approval` applies only to new runs: they wait for approval before they start. */
  readonly effect: PolicyEffect;
  readonly match: PolicyMatch;
  /** Shown to the caller who is refused or has to wait. */
  readonly reason?: string;
}

/**
 * All given conditions must hold; of each list, one value is enough. A condition about an unknown value does not
 * hold.
 */
export interface PolicyMatch {
  readonly actions?: readonly PolicyAction[] | undefined;
  readonly sources?: readonly RunSource[] | undefined;
  /** Names of adapters. */
  readonly integrations?: readonly string[] | undefined;
  /** The platforms' own ids. */
  readonly installations?: readonly string[] | undefined;
  /** Globs on the place, as the adapter names it: a channel, a repository. */
  readonly places?: readonly string[] | undefined;
  readonly principals?: readonly PrincipalId[] | undefined;
  readonly principalTypes?: readonly PrincipalType[] | undefined;
  readonly environments?: readonly string[] | undefined;
  /** Names of the agent catalogue. */
  readonly agents?: readonly string[] | undefined;
}
