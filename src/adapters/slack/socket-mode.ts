import type { Receiver } from "@slack/bolt";
import type { WebClient } from "@slack/web-api";
import { z } from "zod";
import type { Clock, Stop } from "../../core/basics/clock.ts";
import { AppError, Misconfigured } from "../../core/basics/errors.ts";
import type { Log } from "../../core/basics/log.ts";
import { parseJson } from "../../core/basics/parse-json.ts";
import { type Check, type Finding, fail, ok, warn } from "../../core/ports/check.ts";
import type { EventSink } from "./bolt-app.ts";
import { callSlack } from "./client.ts";
import { type EventFacts, MalformedEvent } from "./ingest.ts";
import { type ConnectionListener, SocketConnection } from "./socket-connection.ts";

export interface SocketModeDeps {
  /** With the app's token. */
  readonly client: WebClient;
  readonly clock: Clock;
  readonly log: Log;
  /** Only emulators are without TLS. */
  readonly isEncrypted: boolean;
}

const PAUSE_MIN_MS = 1_000;
const PAUSE_MAX_MS = 60_000;
/** A connection that was used for less time counts as failed. */
const STEADY_MS = 10_000;
const REMEDY =
  "Set SLACK_APP_TOKEN to an app-level token with connections:write, switch Socket Mode on in the settings of the app, and restart.";

const envelopeSchema = z.object({
  type: z.string(),
  reason: z.string().optional().catch(undefined),
  envelope_id: z.string().optional(),
  accepts_response_payload: z.boolean().optional().catch(undefined),
  payload: z.unknown().optional(),
});
type Envelope = z.infer<typeof envelopeSchema>;

/**
 * A Receiver of Bolt: receives events over a WebSocket that Errand opens, so that Slack needs no address of it. An envelope is acknowledged
 * after it was stored; without an acknowledgement Slack sends it again, to any connection of the app
 * (https://docs.slack.dev/apis/events-api/using-socket-mode).
 */
export class SocketMode implements Receiver, ConnectionListener {
  readonly #deps: SocketModeDeps;
  readonly #open = new Set<SocketConnection>();
  /** The connection that Slack has greeted last. */
  #current: SocketConnection | undefined;
  #app: EventSink | undefined;
  #isOpening = false;
  #isStopped = false;
  #stopPause: Stop | undefined;
  #failures = 0;
  #finding: Finding = warn("The connection of Socket Mode is being opened.", "Look again in a moment.");

  constructor(deps: SocketModeDeps) {
    this.#deps = deps;
  }

  get check(): Check {
    return { name: "slack_socket_mode", run: async () => this.#finding };
  }

  init(app: EventSink): void {
    this.#app = app;
  }

  async start(): Promise<void> {
    void this.#connect();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopPause?.();
    await Promise.all(Array.from(this.#open, (connection) => connection.close()));
  }

  onMessage(connection: SocketConnection, text: string): void {
    const { data: envelope } = envelopeSchema.safeParse(parseJson(text));
    switch (envelope?.type) {
      case undefined:
        this.#deps.log.warn("slack.socket.unreadable");
        return;
      case "hello":
        this.#greet(connection);
        return;
      case "disconnect":
        this.#replace(connection, envelope?.reason ?? "");
        return;
      default:
        connection.answer(this.#acknowledge(connection, envelope as Envelope));
    }
  }

  onEnd(connection: SocketConnection, reason: string): void {
    this.#open.delete(connection);
    const wasUsed = connection === this.#current;
    if (wasUsed) {
      this.#current = undefined;
    }
    if (this.#isStopped || (!wasUsed && connection.usedMs !== undefined)) {
      return;
    }
    this.#isOpening = wasUsed ? this.#isOpening : false;
    this.#lost(reason, connection.usedMs ?? 0);
  }

  /** The former connection closes only now, so that there is always one. */
  #greet(connection: SocketConnection): void {
    const former = this.#current;
    if (former === connection) {
      return;
    }
    connection.greeted();
    this.#isOpening = false;
    this.#current = connection;
    this.#finding = ok("Connected by Socket Mode.");
    this.#deps.log.info("slack.socket.connected");
    void former?.close();
  }

  /** Slack announces that it is going to close the connection. */
  #replace(connection: SocketConnection, reason: string): void {
    if (reason === "link_disabled") {
      this.#finding = fail("Socket Mode was switched off in the settings of the Slack app.", REMEDY);
      this.#deps.log.error("slack.socket.disabled");
      void this.stop();
      return;
    }
    if (connection === this.#current) {
      this.#later(connection.usedMs ?? 0);
    }
  }

  #lost(reason: string, usedMs: number): void {
    if (this.#current === undefined) {
      this.#finding = warn(`The connection of Socket Mode was lost (${reason}) and is opened again.`, REMEDY);
    }
    this.#deps.log.warn("slack.socket.lost", { reason });
    this.#later(usedMs);
  }

  /** Opens the next connection: at once after a steady one, otherwise after a pause that doubles. */
  #later(usedMs: number, leastMs = 0): void {
    if (this.#isStopped || this.#isOpening || this.#stopPause !== undefined) {
      return;
    }
    this.#failures = usedMs >= STEADY_MS ? 0 : this.#failures + 1;
    const pauseMs =
      this.#failures === 0 ? 0 : Math.min(PAUSE_MAX_MS, PAUSE_MIN_MS * 2 ** (this.#failures - 1));
    const jitter = 0.5 + Math.random() / 2;
    this.#stopPause = this.#deps.clock.after(Math.max(pauseMs * jitter, leastMs), () => {
      this.#stopPause = undefined;
      void this.#connect();
    });
  }

  async #connect(): Promise<void> {
    this.#isOpening = true;
    try {
      const url = await this.#askUrl();
      if (!this.#isStopped) {
        this.#open.add(new SocketConnection(url, this.#deps.clock, this));
      }
    } catch (error) {
      this.#isOpening = false;
      this.#failToOpen(error);
    }
  }

  async #askUrl(): Promise<string> {
    const { client, isEncrypted } = this.#deps;
    const { url = "" } = await callSlack("apps.connections.open", client.apps.connections.open({}));
    const protocols = isEncrypted ? ["wss:"] : ["wss:", "ws:"];
    if (URL.canParse(url) && protocols.includes(new URL(url).protocol)) {
      return url;
    }
    throw new AppError("resource_unavailable", "Slack gave no address of a WebSocket.", { retryable: true });
  }

  #failToOpen(error: unknown): void {
    const isRefused = error instanceof Misconfigured;
    const message = error instanceof AppError ? error.message : "The connection could not be opened.";
    if (this.#current === undefined) {
      this.#finding = (isRefused ? fail : warn)(`Socket Mode is not connected. ${message}`, REMEDY);
    }
    this.#deps.log.warn("slack.socket.not_opened", { error });
    this.#later(0, error instanceof AppError ? error.options.retryAfterMs : 0);
  }

  async #acknowledge(connection: SocketConnection, envelope: Envelope): Promise<void> {
    const { accepts_response_payload: takesAnswer, envelope_id: id, payload, type } = envelope;
    const facts: EventFacts = {};
    const ack = async (answer?: object) => {
      const response = takesAnswer === true && answer !== undefined ? { payload: answer } : {};
      connection.send(JSON.stringify({ envelope_id: id, ...response }));
    };
    try {
      const body = looseObject.safeParse(payload).data;
      if (body === undefined || !ENVELOPES.has(type)) {
        throw new MalformedEvent();
      }
      const customProperties = { raw: JSON.stringify(payload), facts };
      // Over Socket Mode, a command need not have its name.
      const sent = type === "slash_commands" ? { command: "/errand", ...body } : body;
      await this.#app?.processEvent({ body: sent, ack, customProperties });
      if (facts.isNew !== undefined) {
        this.#deps.log.info("slack.socket.stored", { ...facts });
      }
    } catch (error) {
      if (error instanceof MalformedEvent) {
        // Sent again it would be the same.
        this.#deps.log.warn("slack.socket.unreadable");
        await ack();
        return;
      }
      this.#deps.log.warn("slack.socket.not_stored", { error });
    }
  }
}

const looseObject = z.looseObject({});
const ENVELOPES = new Set(["events_api", "interactive", "slash_commands"]);
