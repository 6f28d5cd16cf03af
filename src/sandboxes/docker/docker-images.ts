import { z } from "zod";
import { ProgramError } from "../../child-process/run-program.ts";
import { defined } from "../../core/basics/defined.ts";
import { parseImageName } from "../../core/model/workspaces/image-name.ts";
import type { ImageSource } from "../../core/ports/image-source.ts";
import { LIBRARY_PATH, type NodeProbe, nodeProbeArgs } from "./container-runtime.ts";
import { type DockerCli, DockerError, ImageError } from "./docker-cli.ts";
import { removeContainer } from "./docker-container.ts";
import type { DockerHost } from "./docker-host.ts";
import { type ImagePullDeps, ImagePulls, tooLarge } from "./image-pulls.ts";
import { volumesOf } from "./image-volumes.ts";
import { PulledImages } from "./pulled-images.ts";

/** A local image, and what our Node needs in it. */
export interface PreparedImage {
  readonly name: string;
  /** The environment that the image sets. */
  readonly environment: Readonly<Record<string, string>>;
  /** The directories that the image declares as volumes. */
  readonly volumes: readonly string[];
  /** Whether the host's libraries must be mounted for our Node, which is also the runtime of agents. */
  readonly needsLibraries: boolean;
}

const LIBRARY_MISSING = /error while loading shared libraries: lib(stdc\+\+|gcc_s|atomic)/;

const inspection = z.object({
  id: z.string(),
  bytes: z.number(),
  env: z.array(z.string()).nullable(),
  volumes: z.record(z.string(), z.unknown()).nullish(),
});
type Inspection = z.infer<typeof inspection>;
const INSPECTION =
  '{"id":{{json .Id}},"bytes":{{json .Size}},"env":{{json .Config.Env}},"volumes":{{json .Config.Volumes}}}';

/** A new pull is tried after this time. */
const RETRY_MS = 30_000;
/** A command fails like the last pull of its image, which ended before the command's run was claimed. */
const FAILURE_MS = 10 * 60_000;
const HOUR_MS = 3_600_000;

export interface DockerImagesOptions {
  readonly dataDir: string;
  readonly probe: Pick<NodeProbe, "labels" | "limits">;
  readonly host: () => Promise<DockerHost>;
  readonly pulls: Omit<ImagePullDeps, "cli" | "imageRoot">;
}

interface FailedPull {
  readonly error: ImageError;
  readonly at: number;
}

/** Provides images for commands: they are pulled if needed, tried once, and removed when they are no longer used. */
export class DockerImages implements ImageSource {
  readonly #cli: DockerCli;
  readonly #options: DockerImagesOptions;
  readonly #pulls: ImagePulls;
  readonly #pulled: PulledImages;
  /** By the id of the image, because a name may move to another image. */
  readonly #needs = new Map<string, Promise<boolean>>();
  readonly #failures = new Map<string, FailedPull>();
  #removedMs = -Infinity;

  constructor(cli: DockerCli, options: DockerImagesOptions) {
    this.#cli = cli;
    this.#options = options;
    const imageRoot = async () => (await options.host()).imageRoot;
    this.#pulls = new ImagePulls({ ...options.pulls, cli, imageRoot });
    this.#pulled = new PulledImages(options.dataDir);
  }

  /** Fails with an `ImageError` that says why the image cannot be used. */
  async prepare(name: string, signal: AbortSignal): Promise<PreparedImage> {
    if (parseImageName(name) === undefined) {
      throw new ImageError(`${JSON.stringify(name)} is not the name of an image.`);
    }
    const { env, id, volumes } = (await this.#find(name)) ?? (await this.#provide(name, signal));
    await this.#pulled.touch(name);
    const image = { name, environment: environmentOf(env), volumes: volumesOf(name, volumes) };
    return { ...image, needsLibraries: await this.#ask(id, image) };
  }

  async isReady(name: string): Promise<boolean> {
    const isHopeless = !this.#pulls.allows(name) || this.#failure(name, RETRY_MS) !== undefined;
    return isHopeless || (await this.#find(name)) !== undefined;
  }

  async pull(name: string, signal: AbortSignal): Promise<void> {
    this.#failures.delete(name);
    await this.#pull(name, signal).catch(() => undefined);
  }

  async removeUnused(): Promise<number> {
    if (performance.now() - this.#removedMs < HOUR_MS) {
      return 0;
    }
    this.#removedMs = performance.now();
    const { log, ownImage, rules } = this.#options.pulls;
    let count = 0;
    for (const { id, name } of await this.#pulled.listUnused(rules.unusedMs)) {
      try {
        // Another image of this name is the operator's.
        if (name !== ownImage && (await this.#find(name))?.id === id) {
          await this.#cli.call(["image", "rm", name]);
          count += 1;
        }
        await this.#pulled.remove(name);
      } catch (error) {
        // A container may use it. The next round tries again.
        log.warn("image.not_removed", { image: name, error: String(error) });
      }
    }
    return count;
  }

  /** Undefined when the image is missing. */
  async #find(name: string): Promise<Inspection | undefined> {
    try {
      return inspection.parse(
        JSON.parse(await this.#cli.call(["image", "inspect", "--format", INSPECTION, name])),
      );
    } catch (error) {
      if (error instanceof DockerError && error.isMissing) {
        return undefined;
      }
      const cause = error instanceof DockerError ? error.cause : undefined;
      const isLong = cause instanceof ProgramError && cause.end.isTooLong;
      if (error instanceof DockerError && !isLong) {
        throw error;
      }
      throw new ImageError(`The description of the image ${name} is too long or invalid.`, error);
    }
  }

  async #provide(name: string, signal: AbortSignal): Promise<Inspection> {
    const failure = this.#failure(name, FAILURE_MS);
    if (failure !== undefined) {
      throw failure;
    }
    await this.#pull(name, signal);
    const image = await this.#find(name);
    if (image === undefined) {
      throw new ImageError(`The image ${name} was pulled, but is not present.`);
    }
    return image;
  }

  async #pull(name: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#pulls.pull(name, signal);
      await this.#accept(name);
    } catch (error) {
      if (error instanceof ImageError) {
        this.#failures.set(name, { error, at: performance.now() });
      }
      throw error;
    }
  }

  async #accept(name: string): Promise<void> {
    const { maxBytes } = this.#options.pulls.rules;
    const image = await this.#find(name);
    if (image !== undefined && image.bytes > maxBytes) {
      await this.#cli.call(["image", "rm", name]);
      throw new ImageError(tooLarge(name, maxBytes));
    }
    if (image !== undefined) {
      await this.#pulled.add({ name, id: image.id });
    }
  }

  #failure(name: string, withinMs: number): ImageError | undefined {
    const failure = this.#failures.get(name);
    return failure && performance.now() - failure.at < withinMs ? failure.error : undefined;
  }

  async #ask(id: string, image: ProbedImage): Promise<boolean> {
    const known = this.#needs.get(id) ?? this.#tryNode(image);
    this.#needs.set(id, known);
    try {
      return await known;
    } catch (error) {
      this.#needs.delete(id);
      throw error;
    }
  }

  async #tryNode(image: ProbedImage): Promise<boolean> {
    try {
      await this.#runNode(image, false);
      return false;
    } catch (error) {
      if (!(error instanceof DockerError && LIBRARY_MISSING.test(error.message))) {
        throw unusable(image.name, error);
      }
    }
    try {
      await this.#runNode(image, true);
      return true;
    } catch (error) {
      throw unusable(image.name, error);
    }
  }

  /** An aborted program leaves its container behind. */
  async #runNode({ name: image, volumes }: ProbedImage, needsLibraries: boolean): Promise<void> {
    const name = `errand-${crypto.randomUUID()}`;
    const { userArgs } = await this.#options.host();
    const probe = { ...this.#options.probe, name, image, needsLibraries, userArgs, volumes };
    try {
      await this.#cli.call(nodeProbeArgs(probe));
    } finally {
      await removeContainer(this.#cli, name);
    }
  }
}

type ProbedImage = Pick<PreparedImage, "name" | "volumes">;

/** The command's environment over that of the image. Folders with programs of either remain in PATH. */
export function mergeEnvironments(
  { environment, needsLibraries }: PreparedImage,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const imagePath = (environment.PATH ?? "").split(":").filter(Boolean);
  const first = (own.PATH ?? "").split(":").filter((folder) => folder !== "" && !imagePath.includes(folder));
  const libraries = [own.LD_LIBRARY_PATH, LIBRARY_PATH].filter((path) => path !== undefined).join(":");
  return {
    ...environment,
    ...own,
    ...defined({
      PATH: own.PATH === undefined && imagePath.length === 0 ? undefined : [...first, ...imagePath].join(":"),
      LD_LIBRARY_PATH: needsLibraries ? libraries : undefined,
    }),
  };
}

function environmentOf(variables: readonly string[] | null): Readonly<Record<string, string>> {
  return Object.fromEntries((variables ?? []).map(splitVariable));
}

function splitVariable(variable: string): [string, string] {
  const at = variable.indexOf("=");
  return at < 0 ? [variable, ""] : [variable.slice(0, at), variable.slice(at + 1)];
}

function unusable(name: string, error: unknown): ImageError {
  const reason = error instanceof Error ? error.message : String(error);
  return new ImageError(
    `Programs of this machine do not run in the image ${name}, which needs glibc 2.28 or newer (Alpine has none) ` +
      `and the processor of this machine: ${reason}`,
    error,
  );
}
