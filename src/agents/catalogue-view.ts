import { access, constants } from "node:fs/promises";
import type { AgentCatalogueView, CatalogueEntry } from "../core/ports/agent-catalogue.ts";
import type { AgentCatalogue, CatalogueAgent } from "./catalogue.ts";

export function createCatalogueView(catalogue: AgentCatalogue, defaultName: string): AgentCatalogueView {
  const isFirst = ({ name }: CatalogueAgent): number => (name === defaultName ? 0 : 1);
  const agents = [...catalogue.values()].sort((a, b) => isFirst(a) - isFirst(b));
  return { defaultName, list: () => Promise.all(agents.map(entryOf)) };
}

async function entryOf(agent: CatalogueAgent): Promise<CatalogueEntry> {
  const { name, displayName, description, version, license, models } = agent;
  const installed = await isInstalled(agent);
  return {
    ...{ name, displayName, description, version, license, models, installed },
    needs: installed ? [] : ["Its program is not on this machine."],
  };
}

async function isInstalled({ argv: [program], readable }: CatalogueAgent): Promise<boolean> {
  const files = [access(program, constants.X_OK), ...readable.map((path) => access(path, constants.R_OK))];
  return (await Promise.allSettled(files)).every(({ status }) => status === "fulfilled");
}
