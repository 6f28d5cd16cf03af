import { agentConfig } from "../../model/defaults/named-agent.ts";
import type { RoutingRule } from "../../model/defaults/routing-rule.ts";
import type { RequestOrigin } from "../../model/policies/request-origin.ts";
import { homeRepositoryOf } from "../../model/runs/home-repository.ts";
import { layeredConfig } from "../../model/runs/layered-config.ts";
import { type Routing, route } from "../routing/route.ts";
import { routedConfig, withoutPlace } from "../routing/routed-config.ts";
import { inheritConfig } from "./inherit-config.ts";
import type { NewRun } from "./new-run.ts";

/** Adds what the request inherits from its conversation, what the first matching routing rule says, and the defaults. */
export function routeRequest(request: NewRun, from: RequestOrigin, rules: readonly RoutingRule[]): NewRun {
  const { config: requested = {}, continues, defaults = [], namedAgent, prompt } = request;
  const agent = namedAgent && agentConfig(namedAgent, requested);
  const chosen = layeredConfig(requested, agent ?? {});
  const before = continues && inheritConfig(continues, chosen);
  const known = layeredConfig(chosen, before?.config ?? {});
  const isWithoutEnvironment = request.isWithoutEnvironment === true;
  let routing: Routing = { reason: "No routing rule matches.", considered: [] };
  if (isWithoutEnvironment) {
    routing = { reason: "The request names no environment.", considered: [] };
  } else if (rules.length > 0) {
    routing = route(rules, { ...from, text: prompt, config: known });
  }
  // A request from an issue works in the repository of the issue.
  const isPlacedElsewhere =
    isWithoutEnvironment || homeRepositoryOf({ provenance: request.provenance ?? {} }) !== undefined;
  const below = isPlacedElsewhere
    ? defaults.map(({ config, layer }) => ({ layer, config: withoutPlace(config) }))
    : defaults;
  const sources = { request: requested, agent, conversation: before?.config, defaults: below };
  const routed = routedConfig(sources, routing);
  const provenance = { ...before?.provenance, ...request.provenance, ...routed.provenance };
  return {
    ...before,
    ...request,
    config: routed.config,
    hasStoredConfig: true,
    isRouted: true,
    ownConfig: requested,
    provenance,
  };
}
