import pg from "pg";
import type { Log } from "../core/ports/log.ts";
import type { PubSub, Unsubscribe } from "../core/ports/pubsub.ts";
import { Listeners } from "./listeners.ts";

export interface PostgresPubSubOptions {
  readonly url: string;
  readonly log: Log;
}

const CHANNEL = "errand_news";
/**
 * A commit that notifies takes one lock of the whole server, so this is sent beside the transactions, and what comes so
 * soon after it goes out together. The first is not kept waiting.
 */
const COALESCE_MS = 3;
/** PostgreSQL refuses payloads of 8000 bytes. */
const PAYLOAD_CHANNELS = 100;
const CONNECT_TIMEOUT_MS = 2_000;
const QUERY_TIMEOUT_MS = 3_000;
const RECONNECT_MIN_MS = 100;
const RECONNECT_MAX_MS = 2_000;
/** A silent link is only noticed by asking. */
const CHECK_MS = 5_000;

/** News over LISTEN and NOTIFY, on one connection of its own that is made anew whenever it breaks. */
export class PostgresPubSub implements PubSub {
  readonly #options: PostgresPubSubOptions;
  readonly #listeners = new Listeners();
  readonly #waiting = new Set<string>();
  #client: pg.Client | undefined;
  /** Which process of the server serves us: what comes from there is our own news. */
  #backend: number | undefined;
  #isTelling = false;
  #reconnectTimer: NodeJS.Timeout | undefined;
  #checkTimer: NodeJS.Timeout | undefined;
  #asked: Promise<void> = Promise.resolve();
  #failures = 0;
  #stopped = false;

  constructor(options: PostgresPubSubOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#checkTimer = setInterval(() => this.#query("SELECT 1"), CHECK_MS);
    await this.#connect();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#reconnectTimer);
    clearInterval(this.#checkTimer);
    await this.#client?.end().catch(() => undefined);
  }

  publish(channels: readonly string[]): void {
    for (const channel of channels) this.#waiting.add(channel);
    if (this.#stopped || this.#isTelling) return;
    this.#isTelling = true;
    setImmediate(() => this.#flush());
  }

  subscribe(channel: string, listener: () => void): Unsubscribe {
    return this.#listeners.add(channel, listener);
  }

  /** Listeners of this process are told at once, the others through the database. */
  #flush(): void {
    this.#isTelling = !this.#stopped && this.#waiting.size > 0;
    if (!this.#isTelling) return;
    setTimeout(() => this.#flush(), COALESCE_MS);
    const channels = [...this.#waiting];
    this.#waiting.clear();
    this.#listeners.call(channels);
    for (let start = 0; start < channels.length; start += PAYLOAD_CHANNELS) {
      const payload = JSON.stringify(channels.slice(start, start + PAYLOAD_CHANNELS));
      this.#query("SELECT pg_notify($1, $2)", [CHANNEL, payload]);
    }
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#options.url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
      keepAlive: true,
      application_name: "errand news",
    });
    client.on("error", (error) => this.#lost(client, error));
    client.on("end", () => this.#lost(client, new Error("connection ended")));
    client.on("notification", ({ payload, processId }) => {
      if (processId !== this.#backend) this.#listeners.call(topicsIn(payload));
    });
    this.#client = client;
    try {
      await client.connect();
      const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
      this.#backend = rows[0]?.pid;
      await client.query(`LISTEN ${CHANNEL}`);
      this.#failures = 0;
      this.#listeners.callAll();
    } catch (error) {
      this.#lost(client, error);
    }
  }

  /** One after the other: a connection takes no second query while it works on the first. */
  #query(text: string, values: string[] = []): void {
    const client = this.#client;
    if (client === undefined) return;
    this.#asked = this.#asked
      .then(() => client.query(text, values))
      .then(
        () => undefined,
        (error) => this.#lost(client, error),
      );
  }

  /** Told of once: what an old connection says late is nothing against the one that took its place. */
  #lost(client: pg.Client | undefined, error: unknown): void {
    if (this.#stopped || client === undefined || client !== this.#client) return;
    this.#options.log.warn("pubsub.connection.lost", { error: String(error) });
    // end() waits for a server that may be silent; the socket is cut by the time-outs.
    void client.end().catch(() => undefined);
    this.#client = undefined;
    const delay =
      Math.min(RECONNECT_MAX_MS, RECONNECT_MIN_MS * 2 ** this.#failures) * (0.5 + Math.random() / 2);
    this.#failures += 1;
    this.#reconnectTimer = setTimeout(() => void this.#connect(), delay);
  }
}

/** Everybody with access to the database may notify. What is no list of ours is no news. */
function topicsIn(payload: string | undefined): readonly string[] {
  const channels = parsed(payload ?? "");
  return Array.isArray(channels) ? channels.filter((channel) => typeof channel === "string") : [];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
