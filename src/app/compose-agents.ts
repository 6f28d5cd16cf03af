import { createAgentChooser, defaultAgentName } from "../agents/agent-chooser.ts";
import { type AgentCatalogue, createCatalogue } from "../agents/catalogue.ts";
import { createCatalogueView } from "../agents/catalogue-view.ts";
import { AgentInstaller } from "../agents/install/agent-installer.ts";
import type { Config } from "../config/config.ts";
import type { AgentCatalogueView } from "../core/ports/agent-catalogue.ts";
import type { AgentChoice } from "../core/requests/prepare/new-run.ts";
import { isPriced } from "../gateway/models/prices.ts";

/** The agents, as every process needs them. */
export interface AgentDeps {
  readonly defaultName: string;
  readonly catalogue: AgentCatalogue;
  readonly view: AgentCatalogueView;
  readonly choice: AgentChoice;
  readonly programs: AgentInstaller;
}

export function composeAgents({ agent, dataDir, modelPrices, models: servers }: Config): AgentDeps {
  const { custom, npmVariables: variables, setting } = agent;
  const catalogue = createCatalogue(custom);
  const programs = new AgentInstaller({ dataDir, variables });
  const common = { catalogue, servers, setting, ...defaultModelOf(agent) };
  return {
    defaultName: defaultAgentName(setting, servers),
    catalogue,
    view: createCatalogueView({ ...common, programs }),
    choice: createAgentChooser({ ...common, isPriced: (modelId) => isPriced(modelPrices, modelId) }),
    programs,
  };
}

export function defaultModelOf({ model }: Config["agent"]): { readonly defaultModel?: string } {
  return model === undefined ? {} : { defaultModel: model };
}
