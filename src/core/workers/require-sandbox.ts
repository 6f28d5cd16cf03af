import { AppError } from "../errors.ts";
import type { AgentChoice } from "../runs/new-run.ts";
import type { RunDefinition } from "../runs/run.ts";
import { isRestricted } from "./worker.ts";
import type { WorkerStore } from "./worker-store.ts";

/**
 * Rejects a run whose agent needs a sandbox while no worker that could take the run has one. Without any worker the run
 * is accepted, because a worker with a sandbox may start later.
 */
export async function requireSandbox(
  workers: Pick<WorkerStore, "listLive">,
  agents: AgentChoice,
  { agent, config: { worker_host: host }, preparesOnly }: RunDefinition,
): Promise<void> {
  if (preparesOnly === true || !agents.needsSandbox(agent)) {
    return;
  }
  const live = await workers.listLive();
  const able = live.filter((worker) => host === undefined || worker.host === host);
  if (able.length > 0 && able.every(isRestricted)) {
    throw new AppError("invalid_request", `The agent ${agent} needs a sandbox, and no worker has one.`, {
      remedy:
        "Install bubblewrap or docker where the worker runs. Or set ERRAND_SANDBOX=local there, which lets every run read and change the worker's files and keys.",
      issues: [{ path: "config.harness.type", message: "needs a sandbox, and no worker has one" }],
    });
  }
}
