import type { AgentDefinition } from "../agents/agent-definition.ts";
import { createCatalogue } from "../agents/catalogue.ts";
import { AgentInstaller } from "../agents/install/agent-installer.ts";
import { AgentUpdater } from "../agents/install/agent-updater.ts";
import { AgentVersions, isPackaged } from "../agents/install/agent-versions.ts";
import { type Config, readConfig } from "../config/config.ts";
import { StartupError } from "../core/basics/errors.ts";
import { makeDataDir } from "./data-dir.ts";
import { operatorCommand, say } from "./operator-command.ts";
import { tryAgent } from "./try-agent.ts";

const USAGE = "Usage: agents list [--json] | agents update NAME[@VERSION] | agents rollback NAME";

/** One agent in `agents list --json`, which the command line of Errand reads. */
interface ListedAgent {
  readonly name: string;
  readonly version: string;
  readonly from: "errand" | "this machine";
  readonly errand_version: string;
  readonly previous_version?: string;
}

/**
 * Lists the versions of the agents of this machine, or changes one. It reads the same variables as the server, and needs
 * neither the server nor its database. Returns the exit code.
 */
export function agentsCommand(
  words: readonly string[],
  environment: Parameters<typeof readConfig>[0],
): Promise<number> {
  return operatorCommand(async () => {
    const config = readConfig(environment);
    const [action = "list", word = "", ...rest] = words;
    if (action === "list" && rest.length === 0 && ["", "--json"].includes(word)) {
      await list(config, word === "--json");
      return;
    }
    if (!["update", "rollback"].includes(action) || word === "" || rest.length > 0) {
      throw new StartupError(USAGE);
    }
    await change(config, action, word);
  });
}

async function list(config: Config, isJson: boolean): Promise<void> {
  const versions = new AgentVersions(config.dataDir);
  const agents = [...createCatalogue().values()].filter(isPackaged);
  const rows: ListedAgent[] = [];
  for (const agent of agents) {
    const { inUse, previous } = await versions.of(agent);
    rows.push({
      name: agent.name,
      version: inUse.npmPackage.version,
      from: inUse.isUpdate ? "this machine" : "errand",
      errand_version: agent.npmPackage.version,
      ...(previous === undefined ? {} : { previous_version: previous.npmPackage.version }),
    });
  }
  say(isJson ? JSON.stringify(rows) : rows.map(lineOf).join("\n"));
}

function lineOf({ errand_version, from, name, previous_version, version }: ListedAgent): string {
  const origin = from === "errand" ? "of this Errand" : `chosen here, instead of ${errand_version}`;
  return `${name} ${version} (${[origin, previous_version && `before: ${previous_version}`].filter(Boolean).join("; ")})`;
}

async function change(config: Config, action: string, word: string): Promise<void> {
  const [name = "", version] = action === "update" ? word.split("@", 2) : [word];
  const agent = agentOf(name);
  const { dataDir } = config;
  await makeDataDir(dataDir);
  const { npmVariables: variables } = config.agent;
  const installer = new AgentInstaller({ dataDir, variables });
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const updater = new AgentUpdater({
    versions: new AgentVersions(dataDir),
    installer,
    variables,
    tryAgent: (each, folder, signal) => tryAgent({ config, programs: installer, log }, each, folder, signal),
  });
  const stop = new AbortController();
  const giveUp = () => {
    stop.abort(new StartupError("The command was stopped. The version in use stays."));
    void installer.close();
  };
  process.once("SIGINT", giveUp).once("SIGTERM", giveUp);
  const job = { report: say, signal: stop.signal };
  await (action === "update" ? updater.update(agent, version, job) : updater.rollBack(agent, job));
}

function agentOf(name: string): AgentDefinition {
  const catalogue = createCatalogue();
  const agent = catalogue.get(name);
  if (agent === undefined) {
    throw new StartupError(`There is no agent ${name}. There are: ${[...catalogue.keys()].join(", ")}.`);
  }
  return agent;
}
