import { defined } from "../../basics/defined.ts";
import { keysOf } from "../../basics/keys-of.ts";
import type { NamedAgent } from "../../model/defaults/named-agent.ts";
import type { RoutingMatch, RoutingRule } from "../../model/defaults/request-defaults.ts";
import type { RequestOrigin } from "../../model/policies/request-origin.ts";
import { containsOne, isAmong, matchesOneGlob } from "../../model/policies/rule.ts";
import { homeRepositoryOf } from "../../model/runs/home-repository.ts";
import type { ConfigLayer, Provenance, Run, RunConfig } from "../../model/runs/run.ts";
import type { ConfigDefault, NewRun } from "../prepare/new-run.ts";

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
  const repository = repositoryConfigIn(request);
  const sources = { request: requested, agent, conversation: before?.config, repository, defaults: below };
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

/** A request that says where it works takes the environment of nothing else. */
function repositoryConfigIn({ config = {}, isWithoutEnvironment, repositoryConfig = {} }: NewRun): RunConfig {
  const { environment_id: _environment, ...others } = repositoryConfig;
  return isWithoutEnvironment === true || isPlaced(config) ? others : repositoryConfig;
}

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
  /** What the repository of the request says. */
  readonly repository?: RunConfig | undefined;
  /** Below the routing rule, strongest first. */
  readonly defaults?: readonly ConfigDefault[] | undefined;
}

/**
 * The request's own configuration. Missing values come from the other sources, then from the routing rule and the
 * defaults.
 */
export function routedConfig(sources: ConfigSources, routing: Routing): RoutedConfig {
  const { considered, reason, rule } = routing;
  const { agent = {}, conversation, defaults = [], repository = {}, request } = sources;
  const own = layeredConfig(layeredConfig(request, agent), conversation ?? {});
  // A conversation keeps its agent program.
  const fitting = (lower: RunConfig, upper: RunConfig) =>
    withoutHarness(ofSameProgram(lower, upper), conversation !== undefined);
  const ofRepository = fitting(repository, own);
  const stronger = layeredConfig(own, ofRepository);
  const ofRule = fitting(ruleConfig(routing), stronger);
  let config = layeredConfig(stronger, ofRule);
  const layers: [ConfigLayer, RunConfig][] = [];
  for (const { config: below, layer } of defaults) {
    const lower = fitting(ofSamePlace(below, config), config);
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
    ["repository_file", ofRepository],
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
  repository_file: "The file of the repository says it.",
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

/**
 * The branch and the setting of pull requests are those of the place that the configuration names. If it names none, the
 * setting is for every place.
 */
export function withoutPlace(config: RunConfig): RunConfig {
  const { environment_id: _environment, repository: _repository, ref: _ref, ...placed } = config;
  const { repository_guessed: _guessed, ...others } = placed;
  const { pull_request: _pullRequest, ...rest } = others;
  return isPlaced(config) ? rest : others;
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

export interface InheritedConfig {
  readonly config: RunConfig;
  /** The agent program of the previous run, unless the request names another one. */
  readonly formerAgent?: string;
  readonly provenance: Provenance;
  readonly teamOwned: boolean;
}

/** These members describe the earlier task, so they are not inherited. */
const OF_THE_TASK = ["name", "output_schema", "priority", "session_sharing", "skill_spec"];
/** Another agent may not have the same models, so these members are inherited only by the same agent. */
const OF_THE_AGENT = ["harness", "model_id"];
/** These members say something about the repository, so they are inherited only with it. */
const OF_THE_REPOSITORY = ["ref", "pull_request", "repository_guessed"];
/** A list of secrets that came from these layers belongs to the named agent or the environment, not to the conversation. */
const OF_OTHERS: readonly (ConfigLayer | undefined)[] = ["agent", "default"];
/** The repository in which the run was requested. */
const OF_THE_PLACE = ["repository", "head"];

/**
 * What a run inherits from the previous run of its conversation when its request does not say otherwise: the agent,
 * the environment and the rest of the configuration. It also inherits the visibility, because it has the files of the
 * previous run.
 */
export function inheritConfig(before: Run, requested: RunConfig): InheritedConfig {
  const { agent, config, provenance, teamOwned } = before;
  const type = requested.harness?.type ?? agent;
  const left = [
    ...OF_THE_TASK,
    ...(type === agent ? [] : OF_THE_AGENT),
    ...(isPlacedAnew(before, requested) ? OF_THE_REPOSITORY : []),
    ...(OF_OTHERS.includes(provenance.config_layers?.secrets) ? ["secrets"] : []),
  ];
  return defined({
    formerAgent: type === agent ? agent : undefined,
    config: membersOf(config, (name) => !left.includes(name)),
    provenance: membersOf(provenance, (name) => OF_THE_PLACE.includes(name)),
    teamOwned,
  });
}

/** Whether the request names another place than the one that the members of the repository are about. */
function isPlacedAnew({ config: { repository } }: Run, requested: RunConfig): boolean {
  const isElsewhere = requested.environment_id !== undefined && repository === undefined;
  return requested.repository !== undefined || isElsewhere;
}

function membersOf<T extends object>(value: T, isWanted: (name: string) => boolean): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([name]) => isWanted(name))) as Partial<T>;
}

/**
 * The values of `upper` and, where it has none, those of `lower`. The members of `harness` are combined one by one, so
 * that naming a model does not change the agent program.
 */
function layeredConfig(upper: RunConfig, lower: RunConfig): RunConfig {
  const harness = layeredHarness(upper, lower);
  return { ...lower, ...upper, ...defined({ harness }) };
}

/** What of `lower` fits to the choices of `upper`. Another agent program may not have the same models. */
function ofSameProgram(lower: RunConfig, upper: RunConfig): RunConfig {
  const type = upper.harness?.type;
  if (type === undefined || type === lower.harness?.type) {
    return lower;
  }
  const { harness: _harness, model_id: _model, ...others } = lower;
  return others;
}

/** The model of the harness precedes `model_id`, so that of a lower layer must not beat `model_id` of an upper one. */
function layeredHarness(upper: RunConfig, lower: RunConfig): RunConfig["harness"] {
  if (lower.harness === undefined) {
    return upper.harness;
  }
  const { model_id: _model, ...withoutModel } = lower.harness;
  return { ...(upper.model_id === undefined ? lower.harness : withoutModel), ...upper.harness };
}

/** What the agent adds to the values of a request. What belongs to another choice of the request is left out. */
function agentConfig({ config }: NamedAgent, request: RunConfig): RunConfig {
  const { skills, ...others } = ofSameProgram(config, request);
  // The request names its skill in the other form.
  return {
    ...others,
    ...defined({ skills: request.skill_spec !== undefined || skills === undefined ? undefined : skills }),
  };
}
