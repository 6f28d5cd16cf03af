import type { Config } from "../config/config.ts";
import type { Log } from "../core/basics/log.ts";
import { CHANNELS } from "../core/ports/pubsub.ts";
import { startWebhooks } from "../core/team/webhooks/webhook-worker.ts";
import { findUnlistedImages } from "../core/upkeep/image-check.ts";
import { RunLoop } from "../core/work/attempts/run-loop.ts";
import type { AppDeps, Bootstrap } from "./compose.ts";
import type { WorkerDeps } from "./compose-worker.ts";
import { plainLog } from "./logger.ts";
import { systemClock } from "./system.ts";

const MAINTENANCE_MS = 5_000;
/**
 * For due times whose job was lost. It is separate from the maintenance job, because a schedule may block for a
 * while.
 */
const SCHEDULES_MS = 5_000;
/** Only one of these rounds in a few minutes searches, whichever worker it belongs to. */
const LOST_EVENTS_MS = 60_000;
const PRUNING_MS = 60 * 60_000;
/** Each worker prunes its own disk. */
const DISK_PRUNING_MS = 5 * 60_000;
const GRACE_MS = 7_000;
/** Short work that mostly waits for other servers. */
const THREAD_JOB_CONCURRENCY = 4;
/** A schedule with a skill may wait for the host of its repository. */
const SCHEDULE_CONCURRENCY = 2;

/**
 * Registers the worker before the first run can be requested, because the answer tells the caller whether there is a
 * worker.
 */
export async function prepareWorker(
  bootstrap: Bootstrap,
  deps: AppDeps,
  undo: AsyncDisposableStack,
): Promise<WorkerDeps> {
  const log = plainLog(bootstrap.logger);
  const { composeWorker } = await import("./compose-worker.ts");
  const worker = await composeWorker(bootstrap, deps);
  for (const note of worker.chosen.notes) {
    log.info("sandbox.not_used", { note });
  }
  for (const warning of worker.chosen.warnings) {
    log.warn("sandbox.warning", { warning });
  }
  if (worker.chosen.sandbox.hasImages) {
    await tellUnlistedImages(bootstrap, deps, log);
  }
  const swept = await worker.localDisk.sweep();
  if (swept > 0) {
    log.warn("sandbox.orphans.killed", { count: swept });
  }
  undo.defer(() => worker.heartbeat.stop());
  await worker.heartbeat.start();
  return worker;
}

async function tellUnlistedImages({ config }: Bootstrap, { storage }: AppDeps, log: Log): Promise<void> {
  const { registries } = config.sandbox.docker.images;
  const unlisted = await findUnlistedImages(storage, registries);
  if (unlisted.environments > 0) {
    log.warn("environment.images.not_listed", { ...unlisted, listed: registries });
  }
}

export async function drainWork({ queue }: AppDeps, runLoop: RunLoop | undefined): Promise<void> {
  await Promise.all([runLoop?.stop(GRACE_MS), queue.drain(GRACE_MS)]);
}

export async function stopWork({ queue }: AppDeps, runLoop: RunLoop | undefined): Promise<void> {
  await Promise.all([runLoop?.stop(GRACE_MS), queue.stop(GRACE_MS)]);
}

export function startRunLoop(
  { config, logger }: Bootstrap,
  { pubsub }: AppDeps,
  { localDisk, runWorker }: WorkerDeps,
): RunLoop {
  return new RunLoop({
    worker: runWorker,
    slots: config.concurrency,
    mayClaim: async () => (await localDisk.look()).takesRuns,
    pubsub,
    clock: systemClock,
    log: plainLog(logger),
  });
}

export async function startWorker(
  config: Config,
  deps: AppDeps,
  worker: WorkerDeps,
  undo: AsyncDisposableStack,
): Promise<void> {
  const { clones, eventRecovery, localDisk, maintenance, scheduler, secretKeyRotation, webhooks } = worker;
  undo.defer(() => clones.close());
  worker.warm?.start();
  undo.defer(() => worker.warm?.stop());
  await deps.queue.work("inbox", THREAD_JOB_CONCURRENCY, (key, stop) => deps.inboxProcessor.work(key, stop));
  await deps.queue.work("deliver", THREAD_JOB_CONCURRENCY, (key, stop) =>
    deps.outboxDispatcher.work(key, stop),
  );
  await deps.queue.work("schedule", SCHEDULE_CONCURRENCY, (key) => scheduler.fire(key));
  const timer = setInterval(() => void maintenance.round(), MAINTENANCE_MS);
  undo.defer(() => clearInterval(timer));
  const schedules = setInterval(() => void scheduler.round(), SCHEDULES_MS);
  undo.defer(() => clearInterval(schedules));
  void eventRecovery.start();
  const lostEvents = setInterval(() => void eventRecovery.round(), LOST_EVENTS_MS);
  undo.defer(() => clearInterval(lostEvents));
  undo.defer(startWebhooks(webhooks));
  undo.defer(deps.pubsub.subscribe(CHANNELS.deletedRuns, () => void maintenance.removeDeletedRuns()));
  void secretKeyRotation?.round();
  const pruningDisk = setInterval(
    () => void localDisk.cleanUp(),
    Math.min(DISK_PRUNING_MS, config.disk.copyMs),
  );
  void localDisk.cleanUp();
  undo.defer(() => clearInterval(pruningDisk));
  const pruning = setInterval(() => {
    void maintenance.prune();
    void secretKeyRotation?.round();
  }, PRUNING_MS);
  undo.defer(() => clearInterval(pruning));
}
