import { layeredConfig, ofSameProgram } from "../runs/layered-config.ts";
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

/** The configurations that a request combines, strongest first. */
export interface ConfigSources {
  readonly request: RunConfig;
  /** The defaults of the named agent that executes the run. */
  readonly agent?: RunConfig | undefined;
  /** What the run inherits from its conversation. The agent program is inherited even if it is not among it. */
  readonly conversation?: RunConfig | undefined;
}

/** The request's own configuration. Missing values come from the other sources, and last from the routing rule. */
export function routedConfig(sources: ConfigSources, routing: Routing): RoutedConfig {
  const { considered, reason, rule } = routing;
  const { agent = {}, conversation, request } = sources;
  const stronger = layeredConfig(layeredConfig(request, agent), conversation ?? {});
  const { harness, ...ruled } = ofSameProgram(ruleConfig(routing), stronger);
  const ofRule: RunConfig =
    conversation !== undefined || harness === undefined ? ruled : { ...ruled, harness };
  const config = layeredConfig(stronger, ofRule);
  const routed = { environment: config.environment_id ?? null, rule: rule?.name ?? null, reason };
  const inherited = conversation && { harness: {}, ...conversation };
  const { harness: _combined, ...plain } = config;
  const routing_rule = ofRule.harness === undefined ? plain : { ...plain, harness: ofRule.harness };
  const config_layers = layersOf({ request, agent, conversation: inherited ?? {}, routing_rule });
  return { config, provenance: { ...(considered.length === 0 ? {} : { routing: routed }), config_layers } };
}

function ruleConfig({ rule }: Routing): RunConfig {
  if (rule === undefined) {
    return {};
  }
  const { config, environmentId } = rule;
  return environmentId === undefined ? config : { ...config, environment_id: environmentId };
}

/**
 * The agent always has a layer: `default` when no other layer names one. A layer that names only its model or its
 * reasoning level does not choose it, and has a line for each of these members.
 */
function layersOf(configs: Partial<Record<ConfigLayer, RunConfig>>): Record<string, ConfigLayer> {
  const layers: Record<string, ConfigLayer> = { harness: "default" };
  for (const [layer, config] of Object.entries(configs).toReversed()) {
    const { harness = {} } = config;
    const isChosenBelow = layers.harness !== "default" && harness.type === undefined;
    const { harness: _harness, ...others } = config;
    const ofHarness = Object.keys(harness).map((member) => `harness.${member}`);
    for (const member of isChosenBelow ? [...Object.keys(others), ...ofHarness] : Object.keys(config)) {
      layers[member] = layer as ConfigLayer;
    }
  }
  return layers;
}
