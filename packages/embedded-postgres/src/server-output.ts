import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { Log } from "./log.ts";

const READY = "database system is ready to accept connections";
const NOTEWORTHY = /^(?:FATAL|PANIC)|was terminated by signal/;
const KEPT_LINES = 20;

/**
 * The server's own messages, in English because it starts with LC_ALL=C. Crashes go to our log; the last lines are
 * kept to explain a failed start.
 */
export class ServerOutput {
  /** Resolves when the server accepts connections. Never settles otherwise. */
  readonly ready: Promise<void>;
  readonly ended: Promise<void>;
  readonly #lines: string[] = [];
  #isQuiet = false;

  constructor(stream: Readable, log: Log) {
    const ready = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    this.ready = ready.promise;
    this.ended = ended.promise;
    const reader = createInterface({ input: stream });
    reader.once("close", ended.resolve);
    reader.on("line", (line) => {
      this.#keep(line);
      if (line.includes(READY)) {
        ready.resolve();
      }
      if (!this.#isQuiet && NOTEWORTHY.test(line)) {
        log.warn("storage.postgres.output", { line });
      }
    });
  }

  /** A requested stop ends every connection with a FATAL line, which is expected. */
  quieten(): void {
    this.#isQuiet = true;
  }

  mentions(text: string): boolean {
    return this.#lines.some((line) => line.includes(text));
  }

  reason(): string {
    const fatal = this.#lines.findLast((line) => NOTEWORTHY.test(line));
    return fatal ?? this.#lines.at(-1) ?? "it said nothing";
  }

  #keep(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > KEPT_LINES) {
      this.#lines.shift();
    }
  }
}
