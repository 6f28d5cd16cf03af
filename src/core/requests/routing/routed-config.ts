import { defined } from "../../basics/defined.ts";
import { layeredConfig, ofSameProgram } from "../../model/runs/layered-config.ts";
import type { ConfigLayer, RunConfig } from "../../model/runs/run.ts";
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
  /** Below the routing rule, strongest first. */
  readonly defaults?: readonly ConfigDefault[] | undefined;
}

/** A configuration below the routing rules. */
export interface ConfigDefault {
  readonly layer: ConfigLayer;
  readonly config: RunConfig;
}

/**
 * The request's own configuration. Missing values come from the other sources, then from the routing rule and the
 * defaults.
 */
export function routedConfig(sources: ConfigSources, routing: Routing): RoutedConfig {
  const { considered, reason, rule } = routing;
  const { agent = {}, conversation, defaults = [], request } = sources;
  const stronger = layeredConfig(layeredConfig(request, agent), conversation ?? {});
  // A conversation keeps its agent program.
  const fitting = (lower: RunConfig, upper: RunConfig) =>
    withoutHarness(ofSameProgram(lower, upper), conversation !== undefined);
  const ofRule = fitting(ruleConfig(routing), stronger);
  let config = layeredConfig(stronger, ofRule);
  const layers: [ConfigLayer, RunConfig][] = [];
  for (const { config: own, layer } of defaults) {
    const lower = fitting(ofSamePlace(own, config), config);
    config = layeredConfig(config, lower);
    layers.push([layer, { ...lower }]);
  }
  const inherited = conversation && { harness: {}, ...conversation };
  const { harness: _combined, ...plain } = layeredConfig(stronger, ofRule);
  const routing_rule = ofRule.harness === undefined ? plain : { ...plain, harness: ofRule.harness };
  const config_layers = layersOf([
    ["request", request],
    ["agent", agent],
    ["conversation", inherited ?? {}],
    ["routing_rule", routing_rule],
    ...layers,
  ]);
  const placed = PLACE_REASONS[config_layers.environment_id ?? config_layers.repository ?? "default"];
  const routed = {
    environment: config.environment_id ?? null,
    rule: rule?.name ?? null,
    reason: placed ?? reason,
  };
  const isRouted = considered.length > 0 || placed !== undefined;
  return { config, provenance: defined({ routing: isRouted ? routed : undefined, config_layers }) };
}

/** Why a run works where it does, if no rule of the team decided it. */
const PLACE_REASONS: Partial<Record<ConfigLayer, string>> = {
  place_default: "The default of the place where it was asked for.",
  person_default: "The default of the person who asked.",
  choice: "Chosen where it was asked for.",
  only_environment: "The only environment of the team.",
};

/** What of `lower` fits to a request that has its environment or repository already. */
function ofSamePlace(lower: RunConfig, upper: RunConfig): RunConfig {
  return isPlaced(upper) ? withoutPlace(lower) : lower;
}

/** Whether it says where the run works. */
export function isPlaced({ environment_id: environment, repository }: RunConfig): boolean {
  return environment !== undefined || repository !== undefined;
}

/** The branch and the setting of pull requests are those of the repository. */
export function withoutPlace(config: RunConfig): RunConfig {
  const { environment_id: _environment, repository: _repository, ...placed } = config;
  const { repository_guessed: _guessed, ...others } = placed;
  const { pull_request: _pullRequest, ref: _ref, ...rest } = others;
  return rest;
}

function withoutHarness(config: RunConfig, isDropped: boolean): RunConfig {
  const { harness: _harness, ...others } = config;
  return isDropped ? others : config;
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
function layersOf(configs: readonly (readonly [ConfigLayer, RunConfig])[]): Record<string, ConfigLayer> {
  const layers: Record<string, ConfigLayer> = { harness: "default" };
  for (const [layer, config] of configs.toReversed()) {
    const { harness = {} } = config;
    const isChosenBelow = layers.harness !== "default" && harness.type === undefined;
    const { harness: _harness, ...others } = config;
    const ofHarness = Object.keys(harness).map((member) => `harness.${member}`);
    for (const member of isChosenBelow ? [...Object.keys(others), ...ofHarness] : Object.keys(config)) {
      layers[member] = layer;
    }
  }
  return layers;
}
