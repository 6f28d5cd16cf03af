import pg from "pg";
import type { Log } from "../core/basics/log.ts";
import { parseJson } from "../core/basics/parse-json.ts";
import { IMMEDIATE_CHANNELS, type PubSub, type Unsubscribe } from "../core/ports/pubsub.ts";

/** The subscribers of each channel in this process. */
export class Listeners {
  readonly #byChannel = new Map<string, Set<() => void>>();

  add(channel: string, listener: () => void): Unsubscribe {
    const listeners = this.#byChannel.get(channel) ?? new Set();
    this.#byChannel.set(channel, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#byChannel.get(channel) === listeners) {
        this.#byChannel.delete(channel);
      }
    };
  }

  call(channels: Iterable<string>): void {
    for (const channel of channels) {
      for (const listener of this.#byChannel.get(channel) ?? []) {
        listener();
      }
    }
  }

  callAll(): void {
    this.call([...this.#byChannel.keys()]);
  }
}

export interface PostgresPubSubOptions {
  readonly url: string;
  readonly log: Log;
}

const CHANNEL = "errand_notifications";
/**
 * A commit with NOTIFY takes a lock of the whole server. So notifications are sent outside of transactions, and those
 * within this period are sent together. The first one is not delayed.
 */
const COALESCE_MS = 3;
/** PostgreSQL refuses payloads of 8000 bytes. */
const PAYLOAD_CHANNELS = 100;
const CONNECT_TIMEOUT_MS = 2_000;
const QUERY_TIMEOUT_MS = 3_000;
const RECONNECT_MIN_MS = 100;
const RECONNECT_MAX_MS = 2_000;
/** A broken connection is only noticed by using it. */
const CHECK_MS = 5_000;

/**
 * Publishes and subscribes by LISTEN and NOTIFY, on a separate connection that is opened again whenever it breaks.
 */
export class PostgresPubSub implements PubSub {
  readonly #options: PostgresPubSubOptions;
  readonly #listeners = new Listeners();
  readonly #waiting = new Set<string>();
  #client: pg.Client | undefined;
  /** The process id of our server session, by which our own notifications are recognised. */
  #backend: number | undefined;
  #isListening = false;
  #isFlushing = false;
  #reconnectTimer: NodeJS.Timeout | undefined;
  #checkTimer: NodeJS.Timeout | undefined;
  #queries: Promise<void> = Promise.resolve();
  #failures = 0;
  #stopped = false;

  constructor(options: PostgresPubSubOptions) {
    this.#options = options;
  }

  get isListening(): boolean {
    return this.#isListening;
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
    this.#listeners.call(channels.filter((channel) => IMMEDIATE_CHANNELS.has(channel)));
    for (const channel of channels) {
      this.#waiting.add(channel);
    }
    if (this.#stopped || this.#isFlushing) {
      return;
    }
    this.#isFlushing = true;
    setImmediate(() => this.#flush());
  }

  subscribe(channel: string, listener: () => void): Unsubscribe {
    return this.#listeners.add(channel, listener);
  }

  /** Notifies subscribers of this process at once, and others through the database. */
  #flush(): void {
    this.#isFlushing = !this.#stopped && this.#waiting.size > 0;
    if (!this.#isFlushing) {
      return;
    }
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
      application_name: "errand notifications",
    });
    client.on("error", (error) => this.#lost(client, error));
    client.on("end", () => this.#lost(client, new Error("connection ended")));
    client.on("notification", ({ payload, processId }) => {
      if (processId !== this.#backend) {
        this.#listeners.call(channelsIn(payload));
      }
    });
    this.#client = client;
    try {
      await client.connect();
      const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
      this.#backend = rows[0]?.pid;
      await client.query(`LISTEN ${CHANNEL}`);
      this.#failures = 0;
      this.#isListening = true;
      this.#listeners.callAll();
    } catch (error) {
      this.#lost(client, error);
    }
  }

  /** One after another, because a connection takes no second query while one is running. */
  #query(text: string, values: string[] = []): void {
    const client = this.#client;
    if (client === undefined) {
      return;
    }
    this.#queries = this.#queries
      .then(() => client.query(text, values))
      .then(
        () => undefined,
        (error) => this.#lost(client, error),
      );
  }

  /** Reported once: a late event of an old connection says nothing about its successor. */
  #lost(client: pg.Client | undefined, error: unknown): void {
    if (this.#stopped || client === undefined || client !== this.#client) {
      return;
    }
    this.#options.log.warn("pubsub.connection.lost", { error: String(error) });
    // end() waits for a server that may be silent. The time-outs close the socket.
    void client.end().catch(() => undefined);
    this.#client = undefined;
    this.#isListening = false;
    const delay =
      Math.min(RECONNECT_MAX_MS, RECONNECT_MIN_MS * 2 ** this.#failures) * (0.5 + Math.random() / 2);
    this.#failures += 1;
    this.#reconnectTimer = setTimeout(() => void this.#connect(), delay);
  }
}

/** Anyone with access to the database may notify. A payload that is not our list is ignored. */
function channelsIn(payload: string | undefined): readonly string[] {
  const channels = parseJson(payload ?? "");
  return Array.isArray(channels) ? channels.filter((channel) => typeof channel === "string") : [];
}
