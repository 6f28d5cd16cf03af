import { createAgentChooser, defaultAgentName } from "../agents/agent-chooser.ts";
import { defaultModelFor, missingFor } from "../agents/agent-models.ts";
import { type AgentCatalogue, createCatalogue } from "../agents/catalogue.ts";
import { createCatalogueView } from "../agents/catalogue-view.ts";
import { type CompatibleServer, chooseModel, listModels } from "../agents/compatible-models.ts";
import { AgentInstaller } from "../agents/install/agent-installer.ts";
import { AgentVersions } from "../agents/install/agent-versions.ts";
import { CurrentPrograms } from "../agents/install/current-programs.ts";
import { NewerVersions } from "../agents/install/newer-versions.ts";
import type { Config } from "../config/config.ts";
import { AppError } from "../core/basics/errors.ts";
import type { AgentCatalogueView } from "../core/ports/agent-catalogue.ts";
import type { AgentChoice } from "../core/requests/prepare/new-run.ts";
import { isPriced } from "../gateway/models/prices.ts";

/** The agents, as every process needs them. */
export interface AgentDeps {
  readonly defaultName: string;
  readonly catalogue: AgentCatalogue;
  readonly view: AgentCatalogueView;
  readonly choice: AgentChoice;
  readonly programs: CurrentPrograms;
  readonly newer: NewerVersions;
}

export function composeAgents({ agent, dataDir, modelPrices, models: servers }: Config): AgentDeps {
  const { custom, npmVariables: variables, setting } = agent;
  const catalogue = createCatalogue(custom);
  const versions = new AgentVersions(dataDir);
  const programs = new CurrentPrograms(new AgentInstaller({ dataDir, variables }), versions);
  const common = { catalogue, servers, setting, ...defaultModelOf(agent) };
  return {
    defaultName: defaultAgentName(setting, servers),
    catalogue,
    view: createCatalogueView({ ...common, programs }),
    choice: createAgentChooser({ ...common, isPriced: (modelId) => isPriced(modelPrices, modelId) }),
    programs,
    newer: new NewerVersions({ agents: [...catalogue.values()], programs, variables }),
  };
}

export function defaultModelOf({ model }: Config["agent"]): { readonly defaultModel?: string } {
  return model === undefined ? {} : { defaultModel: model };
}

export function compatibleServerOf({ models: { openai } }: Config): {
  readonly compatibleServer?: CompatibleServer;
} {
  return openai?.isCompatible ? { compatibleServer: openai } : {};
}

/** What the agent of `ERRAND_AGENT` lacks. Its runs would fail, each for itself. */
export function findAgentProblem(config: Config, { catalogue, defaultName }: AgentDeps): string | undefined {
  const agent = catalogue.get(defaultName);
  const missing = agent && missingFor(agent, config.models);
  return missing && `Runs of ${defaultName}, the agent of ERRAND_AGENT, fail. ${missing}`;
}

const NO_LIST =
  "The server at OPENAI_BASE_URL did not list its models. Check the address, which mostly ends in /v1. Set ERRAND_MODEL to one of its models, or name one in each run.";

/** Which model runs without one use, as the operator should know it. Undefined: it is set, or the vendor's own server has it. */
export async function findModelNote(
  config: Config,
  { catalogue, defaultName }: AgentDeps,
): Promise<string | undefined> {
  const { compatibleServer } = compatibleServerOf(config);
  const agent = catalogue.get(defaultName);
  const usual = agent && defaultModelFor(agent, config.models, undefined);
  if (compatibleServer === undefined || usual?.provider !== "openai" || config.agent.model !== undefined) {
    return undefined;
  }
  const listed = await listModels(compatibleServer);
  if (listed === undefined) {
    return `${NO_LIST} Runs that name no model ask it for ${usual.id} if it still has no list then.`;
  }
  try {
    return `Runs that name no model use ${chooseModel(listed, usual).id}, a model of the server at OPENAI_BASE_URL.`;
  } catch (error) {
    if (error instanceof AppError) {
      return `${error.message} ${error.options.remedy}`;
    }
    throw error;
  }
}
