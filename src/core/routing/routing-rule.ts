import type { Rule } from "../rules/rule.ts";
import type { RunConfig } from "../runs/run.ts";
import type { RunSource } from "../runs/sources.ts";

/** Gives a request that names no environment its environment, and values for what it does not configure itself. */
export interface RoutingRule extends Rule {
  readonly match: RoutingMatch;
  readonly environmentId?: string;
  readonly config: RunConfig;
}

/** All that is given must hold; of each list, one. */
export interface RoutingMatch {
  readonly integrations?: readonly string[];
  readonly installations?: readonly string[];
  /** Globs on what the adapter calls the place. */
  readonly places?: readonly string[];
  /** Words of the request, whatever their case. */
  readonly text?: readonly string[];
  /** A request that did not come through an integration is routed only by rules that name its source. */
  readonly sources?: readonly RunSource[];
}
