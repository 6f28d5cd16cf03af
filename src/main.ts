import { readConfig } from "./config.ts";
import { type App, startApp } from "./start.ts";
import { StartError } from "./start-error.ts";
import { welcome } from "./welcome.ts";

/** The terminal that started us may be closed: a hang-up is a stop as well. */
const STOP_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
/** A second signal, or a stop that takes longer than this, ends the process at once. */
const STOP_LIMIT_MS = 9_500;

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const app = await startApp(config);
  process.stdout.write(welcome(app, config));
  for (const signal of STOP_SIGNALS) process.once(signal, () => void stop(app));
}

async function stop(app: App): Promise<void> {
  for (const signal of STOP_SIGNALS) process.once(signal, () => process.exit(1));
  setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref();
  await app.stop();
  process.exit(0);
}

try {
  await main();
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
