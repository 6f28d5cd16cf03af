import { AppError } from "../../basics/errors.ts";
import type { RunDefinition } from "../../model/runs/run.ts";
import { hasImages, isRestricted, type LiveWorker } from "../../model/workers/worker.ts";
import type { WorkerStore } from "../../ports/stores/worker-store.ts";
import type { AgentChoice } from "./new-run.ts";

/**
 * Rejects a run whose agent needs a sandbox, or whose environment has an image, while no worker that could take the run
 * has it. Without any worker the run is accepted, because such a worker may start later.
 */
export async function requireSandbox(
  workers: Pick<WorkerStore, "listLive">,
  agents: AgentChoice,
  run: RunDefinition,
  image: string | undefined,
): Promise<void> {
  const needsSandbox = run.preparesOnly !== true && agents.needsSandbox(run.agent);
  if (!needsSandbox && image === undefined) {
    return;
  }
  const { worker_host: host } = run.config;
  const live = await workers.listLive();
  const able = live.filter((worker) => host === undefined || worker.host === host);
  if (able.length === 0) {
    return;
  }
  if (needsSandbox && able.every(isRestricted)) {
    throw noSandbox(run.agent);
  }
  if (image !== undefined && !able.some(hasImages)) {
    throw noImages(image, able);
  }
}

function noSandbox(agent: string): AppError {
  return new AppError("invalid_request", `The agent ${agent} needs a sandbox, and no worker has one.`, {
    remedy:
      "Install bubblewrap or docker where the worker runs. Or set ERRAND_SANDBOX=local there, which lets every run read and change the worker's files and keys.",
    issues: [{ path: "config.harness.type", message: "needs a sandbox, and no worker has one" }],
  });
}

function noImages(image: string, able: readonly LiveWorker[]): AppError {
  const names = [...new Set(able.map(({ sandbox }) => sandbox.name))].join(", ");
  const message = `The environment wants the image ${image}, and no worker for this run has images (sandboxes: ${names}).`;
  return new AppError("invalid_request", message, {
    remedy:
      "Start a worker with ERRAND_SANDBOX=docker, name its worker_host, or take the image out of the environment.",
    issues: [{ path: "config.environment_id", message: "has an image, and no worker has images" }],
  });
}
