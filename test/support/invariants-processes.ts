import { readdir, readFile } from "node:fs/promises";
import type { Client } from "pg";
import { FORWARDER } from "../../src/sandboxes/port-forward.ts";
import { MOVING } from "./invariants-log.ts";

export interface RunProcess {
  readonly pid: number;
  readonly runId: string;
  readonly command: string;
  /** Its environment and its mounts, which name the data directory of its worker. */
  readonly environment: string;
}

/**
 * The workspace provider gives every agent a home directory of its own. It identifies the processes of a run in every
 * sandbox: by the variable HOME, or, where it is mounted at another path, by the mounts of the process.
 */
const HOME_OF_RUN = /(?:(?:^|\0)HOME=[^\0]*| [^ ]*)\/runs\/([0-9a-f-]{36})\/home(?:\0|$| )/;

/** All processes of this machine that were started for a run, without zombies. */
export async function listRunProcesses(): Promise<readonly RunProcess[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map((pid) => findRunProcess(Number(pid))));
  return found.filter((process) => process !== undefined);
}

async function findRunProcess(pid: number): Promise<RunProcess | undefined> {
  try {
    const environment = `${await readFile(`/proc/${pid}/environ`, "utf8")}\0${await readFile(`/proc/${pid}/mountinfo`, "utf8")}`;
    const runId = HOME_OF_RUN.exec(environment)?.[1];
    if (runId === undefined) {
      return undefined;
    }
    return { pid, runId, environment, command: await readFile(`/proc/${pid}/cmdline`, "utf8") };
  } catch {
    // The process has ended meanwhile, or belongs to another user.
    return undefined;
  }
}

/** I5. Only processes of runs in this database, because other tests have theirs. */
export async function findStrayAgents(client: Client, marker: string): Promise<readonly string[]> {
  const processes = await listRunProcesses();
  const { rows } = await client.query<{ id: string; state: string; is_leased: boolean }>(
    "SELECT id::text, state, lease_token IS NOT NULL AS is_leased FROM runs WHERE id = ANY ($1::uuid[])",
    [processes.map(({ runId }) => runId)],
  );
  return rows.flatMap(({ id, state, is_leased: isLeased }) => {
    const own = processes.filter(({ runId }) => runId === id);
    const agents = own.filter(({ command }) => isAgent(command, marker));
    const mayLive = isLeased || state === "BLOCKED" || MOVING.includes(state);
    return [
      ...(agents.length <= 1
        ? []
        : [`I5 run ${id} has ${agents.length} agents: ${agents.map(({ pid }) => pid)}`]),
      ...(mayLive
        ? []
        : [`I5 run ${id} is ${state} and free, but has processes: ${own.map(({ pid }) => pid)}`]),
    ];
  });
}

/** The port forwarder is the parent of the agent and has the agent's command among its arguments. */
function isAgent(command: string, marker: string): boolean {
  return command.includes(marker) && !command.split("\0").includes(FORWARDER);
}
