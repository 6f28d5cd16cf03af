import type { ConfigLayer, RunConfig } from "../runs/run.ts";
import type { Routing } from "./route.ts";

export interface RoutedConfig {
  readonly config: RunConfig;
  /** Kept with the run: why it is configured as it is. */
  readonly provenance: {
    readonly routing?: {
      readonly environment: string | null;
      readonly rule: string | null;
      readonly reason: string;
    };
    readonly config_layers: Readonly<Record<string, ConfigLayer>>;
  };
}

/** The request's own configuration, with the rule's values where it has none. */
export function routedConfig(asked: RunConfig, routing: Routing): RoutedConfig {
  const { considered, reason, rule } = routing;
  const given = ruleConfig(routing);
  const config = { ...given, ...asked };
  const routed = { environment: config.environment_id ?? null, rule: rule?.name ?? null, reason };
  const config_layers = layersOf(asked, config);
  return { config, provenance: { ...(considered.length === 0 ? {} : { routing: routed }), config_layers } };
}

function ruleConfig({ rule }: Routing): RunConfig {
  if (rule === undefined) return {};
  const { config, environmentId } = rule;
  return environmentId === undefined ? config : { ...config, environment_id: environmentId };
}

/** Which agent does the work is always decided, by the default where nobody said. */
function layersOf(asked: RunConfig, resolved: RunConfig): Record<string, ConfigLayer> {
  const members = Object.keys(resolved).map((member) => [
    member,
    member in asked ? "request" : "routing_rule",
  ]);
  return { harness: "default", ...Object.fromEntries(members) };
}
