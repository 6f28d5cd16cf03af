import type { PrincipalId } from "../ids.ts";
import type { PrincipalType } from "../people/principal.ts";
import type { Rule } from "../rules/rule.ts";
import type { RunSource } from "../runs/sources.ts";

/** What can be done to runs, as far as policies tell it apart. */
export const POLICY_ACTIONS = ["create", "follow_up", "cancel", "answer", "approve"] as const;
export type PolicyAction = (typeof POLICY_ACTIONS)[number];

export const POLICY_EFFECTS = ["allow", "deny", "require_approval"] as const;
export type PolicyEffect = (typeof POLICY_EFFECTS)[number];

/** Who may do what from where. What no policy matches is allowed. */
export interface Policy extends Rule {
  /** `require_approval` is about new runs alone: they wait for approval before they begin. */
  readonly effect: PolicyEffect;
  readonly match: PolicyMatch;
  /** Said to whoever is refused, or has to wait. */
  readonly reason?: string;
}

/** All that is given must hold; of each list, one. A condition about what is not known does not hold. */
export interface PolicyMatch {
  readonly actions?: readonly PolicyAction[];
  readonly sources?: readonly RunSource[];
  /** Names of adapters. */
  readonly integrations?: readonly string[];
  /** The platforms' own ids. */
  readonly installations?: readonly string[];
  /** Globs on what the adapter calls the place: a channel, a repository. */
  readonly places?: readonly string[];
  readonly principals?: readonly PrincipalId[];
  readonly principalTypes?: readonly PrincipalType[];
  readonly environments?: readonly string[];
  /** Names of the agent catalogue. */
  readonly agents?: readonly string[];
}
