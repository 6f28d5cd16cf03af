import type { ConfigLayer, RunConfig } from "../runs/run.ts";
import type { Routing } from "./route.ts";

export interface RoutedConfig {
  readonly config: RunConfig;
  /** Stored with the run: why it is configured as it is. */
  readonly provenance: {
    readonly routing?: {
      readonly environment: string | null;
      readonly rule: string | null;
      readonly reason: string;
    };
    readonly config_layers: Readonly<Record<string, ConfigLayer>>;
  };
}

/** The request's own configuration. Missing values come from its conversation, then from the routing rule. */
export function routedConfig(request: RunConfig, routing: Routing, before: RunConfig = {}): RoutedConfig {
  const { considered, reason, rule } = routing;
  const config = { ...ruleConfig(routing), ...before, ...request };
  const routed = { environment: config.environment_id ?? null, rule: rule?.name ?? null, reason };
  const config_layers = layersOf({ request: request, conversation: before, routing_rule: config });
  return { config, provenance: { ...(considered.length === 0 ? {} : { routing: routed }), config_layers } };
}

function ruleConfig({ rule }: Routing): RunConfig {
  if (rule === undefined) {
    return {};
  }
  const { config, environmentId } = rule;
  return environmentId === undefined ? config : { ...config, environment_id: environmentId };
}

/** The agent always has a layer: `default` when no other layer names one. */
function layersOf(configs: Partial<Record<ConfigLayer, RunConfig>>): Record<string, ConfigLayer> {
  const layers: Record<string, ConfigLayer> = { harness: "default" };
  for (const [layer, config] of Object.entries(configs).toReversed()) {
    for (const member of Object.keys(config)) {
      layers[member] = layer as ConfigLayer;
    }
  }
  return layers;
}
