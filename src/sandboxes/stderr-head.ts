import { PassThrough, type Readable } from "node:stream";
import { withTimeout } from "../core/with-timeout.ts";

const MAX_CHARS = 500;

/** As in forwarder.mjs: what it says when it could not start the command. */
const FORWARDER_COMPLAINT = /^errand: (.*)/s;

/** The command may have left a child that holds its stderr open. */
const DRAIN_MS = 500;

/** What was said first on stderr: there it says why a command was not started. */
export class StderrHead {
  /** All of stderr, for whoever wants it. */
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

  /** What was said, when all of it has come. */
  async text(): Promise<string> {
    await withTimeout(this.#ended, DRAIN_MS);
    return this.#text.trim();
  }

  /** Why the forwarder did not start the command; undefined when it did. */
  async forwarderComplaint(): Promise<string | undefined> {
    return FORWARDER_COMPLAINT.exec(await this.text())?.[1];
  }
}
