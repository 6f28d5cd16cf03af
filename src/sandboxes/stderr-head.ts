import { PassThrough, type Readable } from "node:stream";
import { withTimeout } from "../core/basics/clock.ts";

const MAX_CHARS = 500;

/** As in forwarder.mjs: its message when it could not start the command. */
const FORWARDER_ERROR = /^errand: (.*)/s;

/** The command may have left a child that keeps its stderr open. */
const DRAIN_MS = 500;

/** The beginning of stderr, which says why a command was not started. */
export class StderrHead {
  /** All of stderr. */
  readonly stderr: Readable;
  readonly #ended: Promise<void>;
  #text = "";

  constructor(errors: Readable) {
    this.#ended = new Promise((resolve) => {
      errors.once("close", resolve);
    });
    errors.on("data", (chunk: Buffer) => {
      this.#text = (this.#text + chunk.toString("utf8")).slice(0, MAX_CHARS);
    });
    this.stderr = errors.pipe(new PassThrough());
  }

  /** The beginning of stderr, when all of it has arrived. */
  async text(): Promise<string> {
    await withTimeout(this.#ended, DRAIN_MS);
    return this.#text.trim();
  }

  /** Why the forwarder did not start the command; undefined when it did. */
  async forwarderError(): Promise<string | undefined> {
    return FORWARDER_ERROR.exec(await this.text())?.[1];
  }
}
