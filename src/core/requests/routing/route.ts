import { keysOf } from "../../basics/keys-of.ts";
import type { RoutingMatch, RoutingRule } from "../../model/defaults/request-defaults.ts";
import type { RequestOrigin } from "../../model/policies/request-origin.ts";
import { containsOne, isAmong, matchesOneGlob } from "../../model/policies/rule.ts";
import type { RunConfig } from "../../model/runs/run.ts";

/** The members of a request that routing uses. */
export interface RoutedRequest extends RequestOrigin {
  readonly text: string;
  readonly config: RunConfig;
}

export interface Routing {
  /** The rule that decided. */
  readonly rule?: RoutingRule;
  readonly reason: string;
  readonly considered: readonly ConsideredRule[];
}

export interface ConsideredRule {
  readonly rule: RoutingRule;
  /** The first condition that does not hold. */
  readonly mismatch?: RoutingCondition;
}

export type RoutingCondition = keyof RoutingMatch;

type Check = (match: RoutingMatch, request: RoutedRequest) => boolean;

const CHECKS: Readonly<Record<RoutingCondition, Check>> = {
  sources: ({ sources }, { integration, source }) =>
    isAmong(sources, source) && (integration !== undefined || sources !== undefined),
  integrations: ({ integrations }, { integration }) => isAmong(integrations, integration),
  installations: ({ installations }, { installation }) => isAmong(installations, installation),
  places: ({ places }, { place }) => matchesOneGlob(places, place),
  text: (match, { text }) => containsOne(match.text, text),
};
const CONDITIONS = keysOf(CHECKS);

/** The first rule that matches decides, for a request that names no environment. `rules` must be in order. */
export function route(rules: readonly RoutingRule[], request: RoutedRequest): Routing {
  if (request.config.environment_id !== undefined) {
    return { reason: "The request names its environment.", considered: [] };
  }
  const considered: ConsideredRule[] = [];
  for (const rule of rules) {
    const mismatch = CONDITIONS.find((condition) => !CHECKS[condition](rule.match, request));
    considered.push(mismatch === undefined ? { rule } : { rule, mismatch });
    if (mismatch === undefined) {
      return { rule, reason: reasonOf(rule), considered };
    }
  }
  return { reason: "No routing rule matches.", considered };
}

function reasonOf({ match }: RoutingRule): string {
  const conditions = CONDITIONS.filter((condition) => match[condition] !== undefined);
  return conditions.length === 0
    ? "The first rule that matches."
    : `The first rule that matches: ${conditions.join(", ")}.`;
}
