import { executionAsyncResource } from "node:async_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { refuseHighDescriptors } from "../child-process/inherited-descriptors.ts";
import { readConfig } from "../config/config.ts";
import { StartupError } from "../core/basics/errors.ts";
import { type App, startApp } from "./start.ts";
import { startupMessage } from "./startup-message.ts";

/** A closed terminal sends a hang-up, which is a stop as well. */
const STOP_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
/** A stop that takes longer ends the process at once. */
const STOP_LIMIT_MS = 9_500;
/** npm forwards the Ctrl-C that the terminal has already sent to us. Only a later one counts as a second request. */
const SAME_REQUEST_MS = 1_000;
const STOP_DURING_START = "Errand stops as soon as it has started. A second Ctrl-C ends it at once.\n";
/** A person reads the terminal. Each start and each request would fill it with lines for programs. */
const ON_TERMINAL = { ERRAND_LOG_LEVEL: "warn" } as const;
/** Waiting requests are served first after the start. */
const STARTED_MS = 1_000;

/** Runs the service as a process until it is asked to stop. */
export async function serve(environment: Parameters<typeof readConfig>[0]): Promise<void> {
  try {
    await start(environment);
  } catch (error) {
    if (!(error instanceof StartupError)) {
      throw error;
    }
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

async function start(environment: Parameters<typeof readConfig>[0]): Promise<void> {
  refuseHighDescriptors();
  const config = readConfig({ ...(process.stderr.isTTY ? ON_TERMINAL : {}), ...environment });
  await keepTick();
  // The reader of our output may be gone, or the disk may be full. The service continues without output.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", () => undefined);
  }
  const requested = whenStopRequested();
  let isStarting = true;
  void requested.signal.then(() => isStarting && process.stderr.write(STOP_DURING_START));
  const app = await startApp(config);
  isStarting = false;
  process.once("uncaughtException", (error) => breakDown(app, error));
  if (!requested.isPending) {
    process.stdout.write(startupMessage(app, config));
    setTimeout(collectGarbage, STARTED_MS).unref();
  }
  // A request during the start waits for its end, because a start that is cut off leaves the embedded database running.
  void requested.signal.then((signal) => stop(app, signal));
}

/** The first request to stop. A second one ends the process at once. */
function whenStopRequested(): { readonly signal: Promise<NodeJS.Signals>; readonly isPending: boolean } {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>();
  let requestedAt: number | undefined;
  for (const name of STOP_SIGNALS) {
    process.on(name, (signal) => {
      if (requestedAt !== undefined && Date.now() - requestedAt > SAME_REQUEST_MS) {
        process.exit(1);
      }
      requestedAt ??= Date.now();
      resolve(signal);
    });
  }
  return {
    signal: promise,
    get isPending() {
      return requestedAt !== undefined;
    },
  };
}

/**
 * The start leaves a third of the heap as garbage. V8 keeps it until there is more, which never happens in an idle
 * server.
 */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  collect();
}

const kept: object[] = [];

/**
 * Keeps one of the objects that Node creates for each call of `process.nextTick`. Whenever the process is idle, V8
 * forgets the hidden classes of objects that are all gone. The compiled code of `process.nextTick` then stays generic,
 * and a short request takes an eighth longer until the process ends.
 */
export async function keepTick(): Promise<object> {
  const tick = await new Promise<object>((resolve) => {
    process.nextTick(() => resolve(executionAsyncResource()));
  });
  kept.push(tick);
  return tick;
}

/**
 * Exits, because it is unknown what was left half done. The next start recovers all of it. Node would print the error
 * with its secrets.
 */
function breakDown({ log }: App, error: Error): never {
  log.error("process.crashed", { error });
  process.exit(1);
}

async function stop(app: App, signal: NodeJS.Signals): Promise<void> {
  app.log.info("app.stopping", { signal });
  setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref();
  await app.stop();
  process.exit(0);
}
