import type { Rule } from "../policies/rule.ts";
import type { RunConfig } from "../runs/run.ts";
import type { RunSource } from "../runs/sources.ts";

/** Gives a request that names no environment its environment, and default values for its configuration. */
export interface RoutingRule extends Rule {
  readonly match: RoutingMatch;
  readonly environmentId?: string;
  readonly config: RunConfig;
}

/** All given conditions must hold; of each list, one value is enough. */
export interface RoutingMatch {
  readonly integrations?: readonly string[] | undefined;
  readonly installations?: readonly string[] | undefined;
  /** Globs on the place: the channel or repository in which the request is made, as its adapter names it. */
  readonly places?: readonly string[] | undefined;
  /** Words of the request, in any case. */
  readonly text?: readonly string[] | undefined;
  /** A request that did not come through an integration is routed only by rules that name its source. */
  readonly sources?: readonly RunSource[] | undefined;
}
