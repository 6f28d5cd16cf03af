import type { AgentDefinition, DefinedModel } from "./agent-definition.ts";
import {
  type ModelServers,
  type PlacedModel,
  PROVIDER_VARIABLES,
  PROVIDERS,
  type Provider,
  placeModel,
} from "./models.ts";

/** What an agent lacks to have a model, as a sentence; undefined: nothing. */
export function missingFor(
  { displayName, providers }: AgentDefinition,
  servers: ModelServers,
): string | undefined {
  if (providers.length === 0 || providers.some((provider) => servers[provider] !== undefined)) {
    return undefined;
  }
  const variables = providers.map((provider) => PROVIDER_VARIABLES[provider]).join(", ");
  const which = providers.length === 1 ? variables : `one of ${variables}`;
  return `${displayName} needs ${which}.`;
}

/**
 * The model of this id for an agent, or the reason why the agent cannot use it, as a sentence. An agent without
 * models accepts any id.
 */
export function modelFor(
  agent: AgentDefinition,
  modelId: string,
  servers: ModelServers,
): PlacedModel | undefined | string {
  const own = serversOf(agent, servers);
  const placed = placeModel(modelId, own);
  const first = agent.providers.find((provider) => own[provider] !== undefined);
  if (first === undefined) {
    return missingFor(agent, servers);
  }
  if (placed === undefined) {
    return { provider: first, id: modelId };
  }
  if (own[placed.provider] !== undefined) {
    return placed;
  }
  return agent.providers.includes(placed.provider)
    ? `The model ${modelId} needs ${PROVIDER_VARIABLES[placed.provider]}.`
    : `${agent.displayName} does not work with the model ${modelId}.`;
}

/** The agent's models that this server can reach, or all of them if it can reach none. */
export function modelsOf({ models }: AgentDefinition, servers: ModelServers): readonly DefinedModel[] {
  const reached = models.filter(({ by }) => by === undefined || servers[by] !== undefined);
  return reached.length === 0 ? models : reached;
}

/** The model for runs that name none: the operator's choice if the agent can use it. */
export function defaultModelFor(
  agent: AgentDefinition,
  servers: ModelServers,
  operators: string | undefined,
): PlacedModel | undefined {
  const chosen = operators === undefined ? undefined : modelFor(agent, operators, servers);
  if (typeof chosen === "object") {
    return chosen;
  }
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
