import { defined } from "../../core/basics/defined.ts";
import type { Log } from "../../core/basics/log.ts";
import { DEFAULT_IMAGE_RULES, type ImageRules } from "../image-rules.ts";
import { isOrphan, makeMarker, scopeOf } from "../linux-processes.ts";
import type { Sandbox, SandboxCommand, SandboxProcess } from "../sandbox.ts";
import type { SandboxLimits } from "../sandbox-limits.ts";
import { containerArgs, makeContainerFolder, sweepContainerFolders } from "./container-args.ts";
import { argvInside } from "./container-runtime.ts";
import { ControlChannel } from "./control-channel.ts";
import { DockerCli, DockerError, type DockerProgram, ImageError } from "./docker-cli.ts";
import { type ContainerStart, DockerContainer, removeContainer } from "./docker-container.ts";
import { type DockerHost, describeHost } from "./docker-host.ts";
import { DockerImages, mergeEnvironments, type PreparedImage } from "./docker-images.ts";
import { tryContainer } from "./try-container.ts";

export interface DockerOptions {
  readonly dataDir: string;
  readonly limits: SandboxLimits;
  readonly docker: DockerProgram;
  /** The image for commands that name none. */
  readonly image: string;
  /** Default: `DEFAULT_IMAGE_RULES`. */
  readonly images?: ImageRules;
  readonly log?: Pick<Log, "info" | "warn">;
}

const REMEDY =
  "To use it, let this user reach a docker or podman daemon of this machine (ERRAND_DOCKER, DOCKER_HOST), and see that the image " +
  "of ERRAND_DOCKER_IMAGE is there or can be pulled.";

/** The time for everything besides the pull of the default image. */
const START_MS = 60_000;

const SCOPE_LABEL = "errand.scope";
const SANDBOX_LABEL = "errand.sandbox";
const OWNER_LABEL = "errand.for";

/** Runs one container per command, by docker or podman. README.md in this folder lists what it guarantees. */
export function createDockerSandbox(options: DockerOptions): Sandbox {
  return new DockerSandbox(options);
}

class DockerSandbox implements Sandbox {
  readonly name = "docker";
  readonly isolated = true;
  readonly hasLoopback = true;
  readonly hasMounts = true;
  readonly hasImages = true;
  readonly #options: DockerOptions;
  readonly #cli: DockerCli;
  readonly images: DockerImages;
  #problem: Promise<string | undefined> | undefined;
  #host: Promise<DockerHost> | undefined;

  constructor(options: DockerOptions) {
    this.#options = options;
    this.#cli = new DockerCli(options.docker);
    const { dataDir, image: ownImage, images: rules = DEFAULT_IMAGE_RULES, limits, log } = options;
    this.images = new DockerImages(this.#cli, {
      dataDir,
      host: () => this.#describeHost(),
      probe: { labels: this.#labelsOf(makeMarker(dataDir)), limits },
      pulls: {
        rules,
        ownImage,
        log: { warn: (message, facts) => log?.warn(message, facts) },
      },
    });
  }

  unavailable(): Promise<string | undefined> {
    this.#problem ??= this.#tryOnce();
    return this.#problem;
  }

  async weaknesses(): Promise<readonly string[]> {
    return [];
  }

  spawn(command: SandboxCommand): SandboxProcess {
    const { dataDir, limits } = this.#options;
    const marker = makeMarker(dataDir);
    const name = `errand-${marker.slice(marker.lastIndexOf(".") + 1)}`;
    const prepare = (signal: AbortSignal) => this.#prepare(command, { marker, name, signal });
    const namesImage = command.image !== undefined;
    return new DockerContainer({ cli: this.#cli, name, limits, namesImage, prepare });
  }

  async sweep(): Promise<number> {
    const { dataDir, log } = this.#options;
    const orphans = await this.#listOrphans();
    await Promise.all(orphans.map((id) => removeContainer(this.#cli, id)));
    await sweepContainerFolders(dataDir);
    const removed = await this.images.removeUnused();
    if (removed > 0) {
      log?.info("images.removed", { count: removed });
    }
    return orphans.length;
  }

  async #tryOnce(): Promise<string | undefined> {
    try {
      await this.#describeHost();
      const { dataDir, images = DEFAULT_IMAGE_RULES } = this.#options;
      const directory = await makeContainerFolder(dataDir, makeMarker(dataDir));
      await tryContainer(this, directory, images.pullMs + START_MS);
      return undefined;
    } catch (error) {
      const reason = String(error instanceof Error ? error.message : error).replace(/[.?!\s]+$/, "");
      return `${reason}. ${REMEDY}`;
    }
  }

  async #prepare(
    command: SandboxCommand,
    {
      marker,
      name,
      signal,
    }: { readonly marker: string; readonly name: string; readonly signal: AbortSignal },
  ): Promise<ContainerStart> {
    const { dataDir, image: defaultImage, limits } = this.#options;
    const [host, image] = await Promise.all([
      this.#describeHost(),
      command.image === undefined
        ? this.#prepareDefault(defaultImage, signal)
        : this.images.prepare(command.image, signal),
    ]);
    const line = await ControlChannel.open(
      await makeContainerFolder(dataDir, marker),
      defined({
        argv: argvInside(command.argv),
        env: mergeEnvironments(image, command.env),
        portForward: command.portForward,
      }),
    );
    const labels = this.#labelsOf(marker, command.label);
    const createArgs = containerArgs({ command, name, image, host, limits, labels, control: line.directory });
    return { line, createArgs };
  }

  /** The operator chose this image, so that its failure says nothing about the command. */
  async #prepareDefault(image: string, signal: AbortSignal): Promise<PreparedImage> {
    try {
      return await this.images.prepare(image, signal);
    } catch (error) {
      throw error instanceof ImageError ? new DockerError(error.message, error) : error;
    }
  }

  #labelsOf(marker: string, owner?: string): readonly string[] {
    return [
      `${SCOPE_LABEL}=${scopeOf(this.#options.dataDir)}`,
      `${SANDBOX_LABEL}=${marker}`,
      ...(owner === undefined ? [] : [`${OWNER_LABEL}=${owner}`]),
    ];
  }

  /** Without docker there is nothing to end: containers end with their worker. */
  async #listOrphans(): Promise<readonly string[]> {
    const filter = `label=${SCOPE_LABEL}=${scopeOf(this.#options.dataDir)}`;
    const format = `{{.ID}} {{.Label "${SANDBOX_LABEL}"}}`;
    try {
      const lines = await this.#cli.call([
        "ps",
        "--all",
        "--no-trunc",
        "--filter",
        filter,
        "--format",
        format,
      ]);
      const containers = lines.split("\n").map((line) => line.split(" "));
      const orphans: string[] = [];
      for (const [id = "", marker = ""] of containers) {
        if (await isOrphan(marker, this.#options.dataDir)) {
          orphans.push(id);
        }
      }
      return orphans;
    } catch (error) {
      if (error instanceof DockerError && error.isUnreachable) {
        return [];
      }
      throw error;
    }
  }

  async #describeHost(): Promise<DockerHost> {
    this.#host ??= describeHost(this.#cli);
    try {
      return await this.#host;
    } catch (error) {
      // It may answer later.
      this.#host = undefined;
      throw error;
    }
  }
}
