import { WebSocket } from "ws";
import type { Clock, Stop } from "../../core/basics/clock.ts";

const PAYLOAD_LIMIT_BYTES = 4 * 1024 * 1024;
const HANDSHAKE_LIMIT_MS = 10_000;
/** Slack greets at once. */
const HELLO_LIMIT_MS = 10_000;
const PING_EVERY_MS = 10_000;
/** A peer that has sent nothing for this long, not even the answer to a ping, has vanished. */
const SILENCE_LIMIT_MS = 30_000;
const CLOSE_LIMIT_MS = 2_000;

export interface ConnectionListener {
  onMessage(connection: SocketConnection, text: string): void;
  /** Called once, whichever side closed the connection. */
  onEnd(connection: SocketConnection, reason: string): void;
}

/** One WebSocket to Slack. It ends by itself when the peer is silent. */
export class SocketConnection {
  readonly #socket: WebSocket;
  readonly #clock: Clock;
  readonly #listener: ConnectionListener;
  readonly #timers: Stop[];
  readonly #ended = Promise.withResolvers<void>();
  readonly #answering = new Set<Promise<void>>();
  #heardAtMs: number;
  #greetedAtMs: number | undefined;
  #reason = "";

  constructor(url: string, clock: Clock, listener: ConnectionListener) {
    this.#clock = clock;
    this.#listener = listener;
    this.#heardAtMs = clock.elapsedMs();
    this.#socket = new WebSocket(url, {
      handshakeTimeout: HANDSHAKE_LIMIT_MS,
      maxPayload: PAYLOAD_LIMIT_BYTES,
      perMessageDeflate: false,
    });
    this.#timers = [
      clock.after(HELLO_LIMIT_MS, () => this.#requireGreeting()),
      clock.every(PING_EVERY_MS, () => this.#watch()),
    ];
    this.#listen();
  }

  /** For how long Slack has used this connection. Undefined: it has not greeted yet. */
  get usedMs(): number | undefined {
    return this.#greetedAtMs === undefined ? undefined : this.#clock.elapsedMs() - this.#greetedAtMs;
  }

  greeted(): void {
    this.#greetedAtMs ??= this.#clock.elapsedMs();
  }

  /** Keeps the connection open until this answer was sent. */
  answer(answering: Promise<void>): void {
    this.#answering.add(answering);
    void answering.finally(() => this.#answering.delete(answering));
  }

  send(text: string): void {
    if (this.#socket.readyState === WebSocket.OPEN) {
      this.#socket.send(text);
    }
  }

  /** Sends the outstanding answers and closes the connection. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#answering);
    this.#socket.close();
    this.#timers.push(this.#clock.after(CLOSE_LIMIT_MS, () => this.#socket.terminate()));
    await this.#ended.promise;
  }

  #listen(): void {
    const hear = () => {
      this.#heardAtMs = this.#clock.elapsedMs();
    };
    this.#socket.on("open", hear).on("ping", hear).on("pong", hear);
    this.#socket.on("message", (bytes) => {
      hear();
      this.#listener.onMessage(this, bytes.toString());
    });
    // The address in the error has a ticket, so only the code is used.
    this.#socket.on("error", (error) => {
      this.#reason ||= "code" in error ? String(error.code) : "The connection failed.";
    });
    this.#socket.on("close", (code) => {
      for (const stop of this.#timers) {
        stop();
      }
      this.#ended.resolve();
      this.#listener.onEnd(this, this.#reason || `closed with ${code}`);
    });
  }

  #requireGreeting(): void {
    if (this.#greetedAtMs === undefined) {
      this.#end("no hello");
    }
  }

  #watch(): void {
    if (this.#clock.elapsedMs() - this.#heardAtMs >= SILENCE_LIMIT_MS) {
      this.#end("silent");
    } else if (this.#socket.readyState === WebSocket.OPEN) {
      this.#socket.ping();
    }
  }

  #end(reason: string): void {
    this.#reason ||= reason;
    this.#socket.terminate();
  }
}
