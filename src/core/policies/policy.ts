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
  readonly actions?: readonly PolicyAction[];
  readonly sources?: readonly RunSource[];
  /** Names of adapters. */
  readonly integrations?: readonly string[];
  /** The platforms' own ids. */
  readonly installations?: readonly string[];
  /** Globs on the place, as the adapter names it: a channel, a repository. */
  readonly places?: readonly string[];
  readonly principals?: readonly PrincipalId[];
  readonly principalTypes?: readonly PrincipalType[];
  readonly environments?: readonly string[];
  /** Names of the agent catalogue. */
  readonly agents?: readonly string[];
}
