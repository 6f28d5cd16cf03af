import { defined } from "../core/basics/defined.ts";
import type { AgentCatalogueView, AgentModel, CatalogueEntry } from "../core/ports/agent-catalogue.ts";
import { defaultAgentName } from "./agent-chooser.ts";
import type { AgentDefinition, AgentPrograms } from "./agent-definition.ts";
import { defaultModelFor, missingFor, modelsOf } from "./agent-models.ts";
import type { AgentSetting } from "./agent-settings.ts";
import type { AgentCatalogue } from "./catalogue.ts";
import type { ModelServers } from "./models.ts";

export interface CatalogueViewOptions {
  readonly catalogue: AgentCatalogue;
  readonly servers: ModelServers;
  readonly setting: AgentSetting;
  readonly defaultModel?: string;
  readonly programs: Pick<AgentPrograms, "current" | "isThere">;
}

export function createCatalogueView(options: CatalogueViewOptions): AgentCatalogueView {
  const defaultName = defaultAgentName(options.setting, options.servers);
  const isFirst = ({ name }: AgentDefinition): number => (name === defaultName ? 0 : 1);
  const agents = [...options.catalogue.values()].sort((a, b) => isFirst(a) - isFirst(b));
  return { defaultName, list: () => Promise.all(agents.map((agent) => entryOf(options, agent))) };
}

async function entryOf(options: CatalogueViewOptions, ofCatalogue: AgentDefinition): Promise<CatalogueEntry> {
  const agent = await options.programs.current(ofCatalogue);
  const { name, displayName, description, license } = agent;
  const version = agent.npmPackage?.version ?? agent.version;
  const installed = await options.programs.isThere(agent);
  const missing = missingFor(agent, options.servers);
  const needs = [...(missing === undefined ? [] : [missing]), ...(installed ? [] : [notInstalled(agent)])];
  return {
    name,
    displayName,
    description,
    license,
    installed,
    needs,
    usable: missing === undefined && (installed || agent.npmPackage !== undefined),
    models: modelsFor(options, agent),
    ...defined({ version }),
  };
}

function notInstalled({ npmPackage }: AgentDefinition): string {
  if (npmPackage === undefined) {
    return "Its program is not on this machine.";
  }
  return `It is installed when a run first needs it (${npmPackage.name}@${npmPackage.version} from npm).`;
}

/** The first is the default, which may be a model that only the operator named. */
function modelsFor(
  { defaultModel, servers }: CatalogueViewOptions,
  agent: AgentDefinition,
): readonly AgentModel[] {
  const models = modelsOf(agent, servers).map(({ by: _, ...model }) => model);
  const first = defaultModelFor(agent, servers, defaultModel)?.id;
  if (first === undefined) {
    return models;
  }
  const listed = models.find(({ id }) => id === first);
  const own = { id: first, displayName: first, provider: "of this server", seesImages: true };
  return [listed ?? own, ...models.filter((model) => model !== listed)];
}
