import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { type Postmaster, type PostmasterOptions, startPostmaster } from "./postmaster.ts";

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

export interface SupervisedServer {
  /** Stops the server for good. Can be repeated. */
  stop(): Promise<void>;
}

/**
 * Keeps a server running until it is stopped on purpose. A server that was killed, or stopped because the disk was
 * full, is started again on the same socket, so pools just reconnect. It never gives up, because the cause may be
 * repaired from outside. Each failure is logged.
 */
export async function superviseServer(options: PostmasterOptions): Promise<SupervisedServer> {
  const stopping = new AbortController();
  const first = await startPostmaster(options);
  const finished = keepRunning(first, options, stopping.signal);
  return {
    stop: () => {
      stopping.abort();
      return finished;
    },
  };
}

async function keepRunning(
  first: Postmaster,
  options: PostmasterOptions,
  stopping: AbortSignal,
): Promise<void> {
  const stopAskedFor = once(stopping, "abort");
  let server: Postmaster | undefined = first;
  while (server) {
    await Promise.race([server.ended, stopAskedFor]);
    if (stopping.aborted) {
      return server.stop();
    }
    options.log.warn("storage.postgres.died", { pid: server.pid });
    server = await startAgain(options, stopping);
  }
}

async function startAgain(
  options: PostmasterOptions,
  stopping: AbortSignal,
): Promise<Postmaster | undefined> {
  for (let pauseMs = FIRST_PAUSE_MS; !stopping.aborted; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await startPostmaster(options);
    } catch (error) {
      options.log.error("storage.postgres.restart_failed", { error });
    }
    await delay(pauseMs, undefined, { signal: stopping }).catch(() => undefined);
  }
  return undefined;
}
