import { cutText } from "../../basics/clean-text.ts";
import { defined } from "../../basics/defined.ts";
import { hashOf } from "../../basics/hash-of.ts";
import { retry, WHILE_UNAVAILABLE } from "../../basics/retry.ts";
import type { AgentPicture } from "../../model/workspaces/picture.ts";
import type { AttemptDeps } from "../lease/attempt-deps.ts";
import { LeaseLost, type LeaseWriter } from "../lease/lease-writer.ts";

/** A run keeps the first of its pictures. */
const PICTURES_MAX = 50;
const TOO_MANY = `The agent made more than ${PICTURES_MAX} pictures. Only the first are kept as screenshots.`;
const DESCRIPTION_LENGTH = 200;
/** When more bytes wait to be stored, the agent waits too. */
const WAITING_BYTES_MAX = 10 * 2 ** 20;

type PictureDeps = Pick<AttemptDeps, "blobs" | "clock" | "log" | "redact" | "run" | "storage">;

/** Stores the pictures of an agent as screenshots of its run, one after the other, each content once. */
export class PictureSaver {
  readonly #deps: PictureDeps;
  readonly #lease: Pick<LeaseWriter, "write">;
  /** The hashes of the run's screenshots, read for the first picture. */
  #known: Promise<Set<string>> | undefined;
  #stored: Promise<void> = Promise.resolve();
  #waitingBytes = 0;
  #isFull = false;

  constructor(deps: PictureDeps, lease: Pick<LeaseWriter, "write">) {
    this.#deps = deps;
    this.#lease = lease;
  }

  add(picture: AgentPicture): void {
    const { log, run } = this.#deps;
    this.#waitingBytes += picture.bytes.length;
    this.#stored = this.#stored
      .then(() => this.#store(picture))
      .catch((error) => {
        if (!(error instanceof LeaseLost)) {
          log.warn("picture.not_stored", { runId: run.id, error });
        }
      })
      .finally(() => {
        this.#waitingBytes -= picture.bytes.length;
      });
  }

  /** As in `AgentObserver`. */
  backpressure(): Promise<void> | undefined {
    return this.#waitingBytes > WAITING_BYTES_MAX ? this.#stored : undefined;
  }

  /** Resolves when all pictures are stored, or could not be. */
  flush(): Promise<void> {
    return this.#stored;
  }

  async #store({ bytes, description, mimeType }: AgentPicture): Promise<void> {
    const { blobs, clock, redact } = this.#deps;
    if (this.#isFull) {
      return;
    }
    this.#known ??= this.#readKnown();
    const known = await this.#known;
    const hash = await hashOf(bytes);
    if (known.has(hash)) {
      return;
    }
    if (known.size >= PICTURES_MAX) {
      await this.#lease.write((edit) => edit.warn(TOO_MANY));
      this.#isFull = true;
      return;
    }
    const blobId = await retry(clock, WHILE_UNAVAILABLE, () => blobs.put(bytes));
    const text =
      description && cutText(redact(description).replaceAll("\0", "").toWellFormed(), DESCRIPTION_LENGTH);
    const body = { type: "SCREENSHOT", mimeType, ...defined({ description: text }) } as const;
    const file = { blobId, sizeBytes: bytes.length, hash };
    await this.#lease.write((edit) => edit.addArtifact({ key: hash, body, file }));
    known.add(hash);
  }

  async #readKnown(): Promise<Set<string>> {
    const { clock, run, storage } = this.#deps;
    if (run.artifactTypes?.includes("SCREENSHOT") !== true) {
      return new Set();
    }
    const artifacts = await retry(clock, WHILE_UNAVAILABLE, () => storage.files.artifactsOf([run.id]));
    return new Set(artifacts.filter(({ body }) => body.type === "SCREENSHOT").map(({ key }) => key));
  }
}
