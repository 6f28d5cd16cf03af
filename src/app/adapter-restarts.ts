import { withStoredSettings } from "../config/config.ts";
import { secretsIn } from "../config/secret-values.ts";
import { sleep } from "../core/basics/clock.ts";
import { CHANNELS, type PubSub } from "../core/ports/pubsub.ts";
import { createSecretBox } from "../secrets/secret-box.ts";
import { openSettings, readStoredSettings } from "../storage/adapter-settings.ts";
import type { Bootstrap } from "./compose.ts";
import { fromSecretKeys } from "./compose-stores.ts";
import { plainLog } from "./logger.ts";
import { systemClock } from "./system.ts";

/** Notifications can be lost. */
const LOOK_MS = 60_000;
const AGAIN_MS = 1_000;

interface Part {
  stop(): Promise<void>;
}

/** What the application was started with. */
interface Started<App> {
  readonly app: App;
  readonly settings: string;
}

/**
 * Starts the application with the stored settings of adapters, and starts it again in this process whenever they have
 * changed. Runs are handed back and continue, as at every stop.
 */
export class AdapterRestarts<App extends Part, Base extends Bootstrap> {
  readonly #base: Base;
  readonly #start: (bootstrap: Base, look: () => void) => Promise<App>;
  #current: Started<App> | undefined;
  #looks: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(base: Base, start: (bootstrap: Base, look: () => void) => Promise<App>) {
    this.#base = base;
    this.#start = start;
  }

  async start(): Promise<App> {
    const app = await this.#begin();
    this.#look();
    return app;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#looks;
    await this.#current?.app.stop();
  }

  async #begin(): Promise<App> {
    const values = await this.#read();
    const { config, knownSecrets } = this.#base;
    knownSecrets.learn(secretsIn(values));
    const bootstrap = { ...this.#base, config: withStoredSettings(config, values) };
    const app = await this.#start(bootstrap, () => this.#look());
    this.#current = { app, settings: this.#usedOf(values) };
    return app;
  }

  #look(): void {
    this.#looks = this.#looks.then(() => this.#restartIfChanged());
  }

  /** A change during the first start is seen after it. */
  async #restartIfChanged(): Promise<void> {
    const current = this.#current;
    const settings =
      current &&
      (await this.#read().then(
        (values) => this.#usedOf(values),
        () => current.settings,
      ));
    if (this.#isStopped || current === undefined || settings === current.settings) {
      return;
    }
    const log = plainLog(this.#base.logger);
    log.info("adapters.changed");
    const failed = (error: unknown) => log.error("adapters.restart.failed", { error });
    await current.app.stop().catch(failed);
    this.#current = undefined;
    // A failed start is repeated, because nobody else would do it.
    while (!this.#isStopped && this.#current === undefined) {
      await this.#begin().catch(async (error: unknown) => {
        failed(error);
        await sleep(systemClock, AGAIN_MS);
      });
    }
    this.#look();
  }

  /** What the adapters were started with, and not what only the pages use. */
  #usedOf(values: Readonly<Record<string, string>>): string {
    const names = this.#base.config.adapters.flatMap(({ variables }) => variables);
    return JSON.stringify(names.map((name) => values[name]));
  }

  /** Those that a variable does not replace. */
  async #read(): Promise<Readonly<Record<string, string>>> {
    const { config, databaseUrl } = this.#base;
    const rows = await readStoredSettings(databaseUrl);
    const secrets = createSecretBox(fromSecretKeys(this.#base, "sealing", (key) => key));
    return openSettings(
      rows.filter(({ id }) => config.adapterVariables[id] === undefined),
      secrets,
    );
  }
}

/** Calls `look` when stored settings may have changed. Returns what ends it. */
export function watchSettings(pubsub: PubSub, look: () => void): () => void {
  const unsubscribe = pubsub.subscribe(CHANNELS.adapterSettings, look);
  const timer = setInterval(look, LOOK_MS);
  return () => {
    unsubscribe();
    clearInterval(timer);
  };
}
