import { statfs } from "node:fs/promises";
import { GIBIBYTE } from "../../core/basics/byte-units.ts";
import { KeyedSemaphore } from "../../core/basics/keyed-semaphore.ts";
import type { Log } from "../../core/basics/log.ts";
import { isListed, parseImageName } from "../../core/model/workspaces/image-name.ts";
import type { ImageRules } from "../image-rules.ts";
import { type DockerCli, ImageError } from "./docker-cli.ts";

export interface ImagePullDeps {
  readonly cli: Pick<DockerCli, "call">;
  readonly rules: ImageRules;
  /** The operator's image, which may be in any registry. */
  readonly ownImage: string;
  /** Where the daemon stores images, if this machine has that directory. */
  readonly imageRoot: () => Promise<string | undefined>;
  /** The registry's own reason is only for the operator. */
  readonly log: Pick<Log, "warn">;
}

interface Pull {
  readonly done: Promise<void>;
  readonly unwanted: AbortController;
  callers: number;
}

/** Further pulls wait. */
const PULLS_AT_ONCE = 3;
const MEASURE_MS = 1_000;

const REMEDY_OF_NAME =
  "Check that its name and tag are right, and that the worker may read it: a private image needs `docker login` by the worker's user.";

/**
 * Pulls images, each of them once however many callers want it. A pull ends with its last caller, after a time, and when
 * it takes too much disk space. Its errors contain nothing that a registry said, because a registry may lead the daemon
 * to another server and repeat its answer.
 */
export class ImagePulls {
  readonly #deps: ImagePullDeps;
  readonly #semaphore = new KeyedSemaphore(PULLS_AT_ONCE);
  readonly #pulls = new Map<string, Pull>();

  constructor(deps: ImagePullDeps) {
    this.#deps = deps;
  }

  /** Fails with an `ImageError` for people, or with the reason of `signal`. */
  async pull(name: string, signal: AbortSignal): Promise<void> {
    this.#requireListed(name);
    signal.throwIfAborted();
    const pull = this.#pulls.get(name) ?? this.#start(name);
    pull.callers += 1;
    try {
      await unlessAborted(pull.done, signal);
    } finally {
      pull.callers -= 1;
      if (pull.callers === 0) {
        this.#forget(name, pull);
        pull.unwanted.abort();
      }
    }
  }

  /** Whether the image is in a listed registry. */
  allows(name: string): boolean {
    const { ownImage, rules } = this.#deps;
    const parsed = parseImageName(name);
    return name === ownImage || (parsed !== undefined && isListed(parsed, rules.registries));
  }

  #requireListed(name: string): void {
    const { rules } = this.#deps;
    if (!this.allows(name)) {
      throw new ImageError(
        `The image ${name} is not present, and images are pulled only from ${rules.registries.join(", ")}. ` +
          "An operator can add its registry to ERRAND_IMAGE_REGISTRIES, or pull the image on the worker's machine.",
      );
    }
  }

  #start(name: string): Pull {
    const unwanted = new AbortController();
    const done = this.#semaphore.pass("", () => this.#perform(name, unwanted.signal));
    const pull = { done, unwanted, callers: 0 };
    this.#pulls.set(name, pull);
    // Every caller gets the failure. The last one may have left.
    done.catch(() => undefined).finally(() => this.#forget(name, pull));
    return pull;
  }

  #forget(name: string, pull: Pull): void {
    if (this.#pulls.get(name) === pull) {
      this.#pulls.delete(name);
    }
  }

  async #perform(name: string, unwanted: AbortSignal): Promise<void> {
    unwanted.throwIfAborted();
    const { cli, log, rules } = this.#deps;
    const time = AbortSignal.timeout(rules.pullMs);
    const space = await this.#watchSpace();
    try {
      const signal = AbortSignal.any([unwanted, time, space.tooLittle]);
      // The signal ends the call earlier.
      await cli.call(["pull", "--quiet", name], { signal, timeoutMs: 2 * rules.pullMs });
    } catch (error) {
      unwanted.throwIfAborted();
      log.warn("image.not_pulled", { image: name, error: String(error) });
      throw new ImageError(this.#reasonFor(name, { time, space: space.tooLittle }), error);
    } finally {
      space.stop();
    }
  }

  #reasonFor(name: string, { space, time }: Readonly<Record<"space" | "time", AbortSignal>>): string {
    const { maxBytes, pullMs } = this.#deps.rules;
    if (space.aborted) {
      return tooLarge(name, maxBytes);
    }
    if (time.aborted) {
      const minutes = Math.round(pullMs / 60_000);
      return `The image ${name} was not pulled within ${minutes} minutes (ERRAND_IMAGE_PULL_MINUTES). Use a smaller image, or ask the operator to pull it on the worker's machine.`;
    }
    return `The image ${name} is not present and could not be pulled. ${REMEDY_OF_NAME}`;
  }

  /**
   * The space that a layer takes is unknown until it is unpacked, so this compares the free space with that at the
   * start. Other programs write to the disk too, which can only end the pull earlier.
   */
  async #watchSpace(): Promise<{ readonly tooLittle: AbortSignal; readonly stop: () => void }> {
    const tooLittle = new AbortController();
    const root = await this.#deps.imageRoot();
    const before = await freeBytesIn(root);
    const measure = async () => {
      const free = await freeBytesIn(root);
      if (before !== undefined && free !== undefined && before - free > this.#deps.rules.maxBytes) {
        tooLittle.abort();
      }
    };
    const timer = setInterval(() => void measure(), MEASURE_MS);
    return { tooLittle: tooLittle.signal, stop: () => clearInterval(timer) };
  }
}

export function tooLarge(name: string, maxBytes: number): string {
  const limit = `${Number((maxBytes / GIBIBYTE).toFixed(1))} GiB`;
  return `The image ${name} takes more disk space than an image may: ${limit} (ERRAND_IMAGE_GIB). Use a smaller image.`;
}

async function freeBytesIn(path: string | undefined): Promise<number | undefined> {
  const facts = path === undefined ? undefined : await statfs(path).catch(() => undefined);
  return facts && facts.bavail * facts.bsize;
}

async function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const giveUp = () => reject(signal.reason);
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}
