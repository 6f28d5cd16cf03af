import { z } from "zod";
import { LIBRARY_PATH, type NodeProbe, nodeProbeArgs } from "./container-runtime.ts";
import { type DockerCli, DockerError, ImageError } from "./docker-cli.ts";
import { removeContainer } from "./docker-container.ts";

/** A local image, and what our Node needs in it. */
export interface PreparedImage {
  readonly name: string;
  /** The environment that the image sets. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether the host's libraries must be mounted for our Node, which is also the runtime of agents. */
  readonly needsLibraries: boolean;
}

const PULL_TIMEOUT_MS = 10 * 60_000;

/** docker's own rules are stricter. This only prevents a name that docker would read as an option. */
const NAME = /^[a-zA-Z0-9][a-zA-Z0-9._/:@-]{0,299}$/;

const LIBRARY_MISSING = /error while loading shared libraries: lib(stdc\+\+|gcc_s|atomic)/;

const inspection = z.object({ id: z.string(), env: z.array(z.string()).nullable() });
const INSPECTION = '{"id":{{json .Id}},"env":{{json .Config.Env}}}';

/** Provides images for commands: they are pulled if needed, and tried once. */
export class DockerImages {
  readonly #cli: DockerCli;
  readonly #probe: Pick<NodeProbe, "labels" | "limits">;
  /** By the id of the image, because a name may move to another image. */
  readonly #needs = new Map<string, Promise<boolean>>();
  readonly #pulls = new Map<string, Promise<unknown>>();

  constructor(cli: DockerCli, probe: Pick<NodeProbe, "labels" | "limits">) {
    this.#cli = cli;
    this.#probe = probe;
  }

  /** Fails with an `ImageError` that says why the image cannot be used. */
  async prepare(name: string): Promise<PreparedImage> {
    if (!NAME.test(name)) {
      throw new ImageError(`${JSON.stringify(name)} is not the name of an image.`);
    }
    const { env, id } = (await this.#find(name)) ?? (await this.#pull(name));
    const needsLibraries = await this.#ask(id, name);
    const environment = Object.fromEntries((env ?? []).map(splitVariable));
    return { name, environment, needsLibraries };
  }

  async #find(name: string): Promise<z.infer<typeof inspection> | undefined> {
    try {
      return inspection.parse(
        JSON.parse(await this.#cli.call(["image", "inspect", "--format", INSPECTION, name])),
      );
    } catch (error) {
      if (error instanceof DockerError && error.isMissing) {
        return undefined;
      }
      throw error;
    }
  }

  async #pull(name: string): Promise<z.infer<typeof inspection>> {
    const running =
      this.#pulls.get(name) ?? this.#cli.call(["pull", "--quiet", name], { timeoutMs: PULL_TIMEOUT_MS });
    this.#pulls.set(name, running);
    try {
      await running;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new ImageError(`The image ${name} is not here and could not be pulled: ${reason}`, error);
    } finally {
      this.#pulls.delete(name);
    }
    const found = await this.#find(name);
    if (found === undefined) {
      throw new ImageError(`The image ${name} was pulled, but is not here.`);
    }
    return found;
  }

  async #ask(id: string, name: string): Promise<boolean> {
    const known = this.#needs.get(id) ?? this.#tryNode(name);
    this.#needs.set(id, known);
    try {
      return await known;
    } catch (error) {
      this.#needs.delete(id);
      throw error;
    }
  }

  async #tryNode(image: string): Promise<boolean> {
    try {
      await this.#runNode(image, false);
      return false;
    } catch (error) {
      if (!(error instanceof DockerError && LIBRARY_MISSING.test(error.message))) {
        throw unusable(image, error);
      }
    }
    try {
      await this.#runNode(image, true);
      return true;
    } catch (error) {
      throw unusable(image, error);
    }
  }

  /** An aborted program leaves its container behind. */
  async #runNode(image: string, needsLibraries: boolean): Promise<void> {
    const name = `errand-${crypto.randomUUID()}`;
    try {
      await this.#cli.call(nodeProbeArgs({ ...this.#probe, name, image, needsLibraries }));
    } finally {
      await removeContainer(this.#cli, name);
    }
  }
}

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
    ...(own.PATH === undefined && imagePath.length === 0 ? {} : { PATH: [...first, ...imagePath].join(":") }),
    ...(needsLibraries ? { LD_LIBRARY_PATH: libraries } : {}),
  };
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
