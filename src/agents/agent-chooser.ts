import { AppError, type ErrorOptions } from "../core/basics/errors.ts";
import type { RunConfig } from "../core/model/runs/run.ts";
import type { AgentChoice } from "../core/requests/prepare/new-run.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import { defaultModelFor, missingFor, modelFor } from "./agent-models.ts";
import type { AgentSetting } from "./agent-settings.ts";
import type { AgentCatalogue } from "./catalogue.ts";
import { hasCompatible, type ModelServers, PROVIDER_VARIABLES, type Provider, placeModel } from "./models.ts";

export interface AgentChooserOptions {
  readonly catalogue: AgentCatalogue;
  readonly servers: ModelServers;
  readonly setting: AgentSetting;
  /** The model for runs that name none. */
  readonly defaultModel?: string;
  /** Whether the price of a model is known. */
  readonly isPriced: (modelId: string) => boolean;
}

interface ModelRequest {
  readonly id: string;
  readonly path: string;
}

interface Choosing extends AgentChooserOptions {
  /** The caller's name for the configuration. */
  readonly member: string;
}

/** The agent for runs that name neither an agent nor a model. */
export function defaultAgentName(setting: AgentSetting, servers: ModelServers): string {
  if (setting !== "auto") {
    return setting;
  }
  if (hasCompatible(servers)) {
    return "opencode";
  }
  const provider = (["anthropic", "openai", "gemini"] as const).find((each) => servers[each] !== undefined);
  return provider === undefined ? "demo" : NATIVE[provider];
}

const NATIVE: Readonly<Record<Provider, string>> = { anthropic: "claude", openai: "codex", gemini: "gemini" };

/** Rejects an impossible configuration before the run is created. */
export function createAgentChooser(chooserOptions: AgentChooserOptions): AgentChoice {
  return {
    choose: (config, member = "config") => {
      const options = { ...chooserOptions, member };
      const modelRequest = modelAskedFor(config, member);
      const type = config.harness?.type;
      // Public clients call the server's default agent `oz`.
      const agent =
        type === undefined || type === "oz"
          ? byModel(options, modelRequest)
          : byName(options, type, modelRequest);
      requirePrice(options, agent, config, modelRequest);
      return agent.name;
    },
    needsSandbox: (name) => chooserOptions.catalogue.get(name)?.isDemo !== true,
  };
}

function modelAskedFor({ harness, model_id: id }: RunConfig, member: string): ModelRequest | undefined {
  if (harness?.model_id) {
    return { id: harness.model_id, path: `${member}.harness.model_id` };
  }
  return id ? { id, path: `${member}.model_id` } : undefined;
}

function byName(options: Choosing, type: string, modelRequest: ModelRequest | undefined): AgentDefinition {
  const { catalogue, member } = options;
  const agent = catalogue.get(type);
  if (agent !== undefined) {
    return usable(options, agent, modelRequest);
  }
  const names = Array.from(catalogue.keys()).join(", ");
  throw refused(
    `There is no agent named "${type}" here.`,
    `${member}.harness.type`,
    `must be one of: ${names}`,
    {
      remedy: type === "custom" ? "Set ERRAND_AGENT_COMMAND to its command." : `Use one of: ${names}.`,
    },
  );
}

/** The operator's own choice comes first. Otherwise each model belongs to the agent of its vendor. */
function byModel(options: Choosing, modelRequest: ModelRequest | undefined): AgentDefinition {
  const { servers, setting } = options;
  const usual = known(options, defaultAgentName(setting, servers));
  if (modelRequest === undefined || usual.isDemo) {
    return usable(options, usual, undefined);
  }
  if (setting !== "auto" && typeof modelFor(usual, modelRequest.id, servers) !== "string") {
    return usable(options, usual, modelRequest);
  }
  const placed = placeModel(modelRequest.id, servers);
  if (placed === undefined) {
    throw unknownModel(modelRequest);
  }
  const isForAny = placed.provider === "openai" && hasCompatible(servers);
  return usable(options, known(options, isForAny ? "opencode" : NATIVE[placed.provider]), modelRequest);
}

function known({ catalogue }: AgentChooserOptions, name: string): AgentDefinition {
  const agent = catalogue.get(name);
  if (agent === undefined) {
    throw new Error(`There is no agent ${name} in the catalogue.`);
  }
  return agent;
}

function usable(
  { member, servers }: Choosing,
  agent: AgentDefinition,
  modelRequest: ModelRequest | undefined,
): AgentDefinition {
  const about = providerOf(agent, servers, modelRequest);
  const missing = missingFor(agent, servers);
  if (missing !== undefined) {
    const remedy = "Set it where this server is started, or choose another agent.";
    throw refused(missing, modelRequest?.path ?? `${member}.harness.type`, "has no model here", {
      ...about,
      remedy,
    });
  }
  const model = modelRequest === undefined ? undefined : modelFor(agent, modelRequest.id, servers);
  if (modelRequest !== undefined && typeof model === "string") {
    throw refused(model, modelRequest.path, "is not available to this agent here", about);
  }
  return agent;
}

/** The provider of the model, or of all models of the agent. */
function providerOf(
  { providers: [first, ...others] }: AgentDefinition,
  servers: ModelServers,
  modelRequest: ModelRequest | undefined,
): Pick<ErrorOptions, "provider"> {
  const only = others.length === 0 ? first : undefined;
  const provider =
    modelRequest === undefined ? only : (placeModel(modelRequest.id, servers)?.provider ?? only);
  return provider === undefined ? {} : { provider };
}

function unknownModel({ id, path }: ModelRequest): AppError {
  const variables = Object.values(PROVIDER_VARIABLES).join(", ");
  return refused(`The model "${id}" is not known here.`, path, "is not known", {
    remedy: `Name one of GET /agent/models, or have OPENAI_BASE_URL set to a server that has it (${variables}).`,
  });
}

/** A cost limit needs a known price: what an agent reports of its cost comes from inside the sandbox. */
function requirePrice(
  { defaultModel, isPriced, member, servers }: Choosing,
  agent: AgentDefinition,
  { budget }: RunConfig,
  modelRequest: ModelRequest | undefined,
): void {
  if (budget?.max_cost_usd === undefined || agent.isDemo) {
    return;
  }
  const wanted = modelRequest === undefined ? defaultModelFor(agent, servers, defaultModel) : undefined;
  const model = modelRequest === undefined ? wanted : modelFor(agent, modelRequest.id, servers);
  if (typeof model === "object" && isPriced(model.id)) {
    return;
  }
  const name = typeof model === "object" ? `The model ${model.id}` : agent.displayName;
  throw new AppError(
    "operation_not_supported",
    `${name} has no known price, so its cost cannot be limited.`,
    {
      remedy: "Limit tokens, minutes or turns instead, or set its price in ERRAND_MODEL_PRICES.",
      issues: [{ path: `${member}.budget.max_cost_usd`, message: "the price is not known" }],
    },
  );
}

function refused(message: string, path: string, problem: string, more: ErrorOptions = {}): AppError {
  return new AppError("invalid_request", message, { ...more, issues: [{ path, message: problem }] });
}
