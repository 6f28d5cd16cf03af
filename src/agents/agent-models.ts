import type { AgentDefinition, DefinedModel } from "./agent-definition.ts";
import {
  type ModelServers,
  type PlacedModel,
  PROVIDER_VARIABLES,
  PROVIDERS,
  type Provider,
  placeModel,
} from "./models.ts";

/** What is missing for an agent to have a model, as a sentence; undefined: nothing. */
export function missingFor(
  { displayName, providers }: AgentDefinition,
  servers: ModelServers,
): string | undefined {
  if (providers.length === 0 || providers.some((provider) => servers[provider] !== undefined))
    return undefined;
  const variables = providers.map((provider) => PROVIDER_VARIABLES[provider]).join(", ");
  const which = providers.length === 1 ? variables : `one of ${variables}`;
  return `${displayName} needs ${which}.`;
}

/** The model for an agent by its id, or why it cannot have that, as a sentence. Any id will do for one that needs none. */
export function modelFor(
  agent: AgentDefinition,
  modelId: string,
  servers: ModelServers,
): PlacedModel | undefined | string {
  const own = serversOf(agent, servers);
  const placed = placeModel(modelId, own);
  const first = agent.providers.find((provider) => own[provider] !== undefined);
  if (first === undefined) return missingFor(agent, servers);
  if (placed === undefined) return { provider: first, id: modelId };
  if (own[placed.provider] !== undefined) return placed;
  return agent.providers.includes(placed.provider)
    ? `The model ${modelId} needs ${PROVIDER_VARIABLES[placed.provider]}.`
    : `${agent.displayName} does not work with the model ${modelId}.`;
}

/** Those of its models that this server can reach; of an agent that can reach none, all. */
export function modelsOf({ models }: AgentDefinition, servers: ModelServers): readonly DefinedModel[] {
  const reached = models.filter(({ by }) => by === undefined || servers[by] !== undefined);
  return reached.length === 0 ? models : reached;
}

/** What it works with when a run names no model: the operator's choice where it can have that. */
export function defaultModelFor(
  agent: AgentDefinition,
  servers: ModelServers,
  operators: string | undefined,
): PlacedModel | undefined {
  const chosen = operators === undefined ? undefined : modelFor(agent, operators, servers);
  if (typeof chosen === "object") return chosen;
  const [first] = modelsOf(agent, servers);
  return first?.by === undefined ? undefined : { provider: first.by, id: first.id };
}

function serversOf({ providers }: AgentDefinition, servers: ModelServers): ModelServers {
  const own = PROVIDERS.filter((provider: Provider) => providers.includes(provider));
  return Object.fromEntries(
    own.flatMap((provider) => {
      const server = servers[provider];
      return server === undefined ? [] : [[provider, server]];
    }),
  );
}
