import { isOrphan, makeMarker, scopeOf } from "../marked-processes.ts";
import type { Sandbox, SandboxCommand, SandboxProcess } from "../sandbox.ts";
import type { SandboxLimits } from "../sandbox-limits.ts";
import { containerArgs } from "./container-args.ts";
import { makeContainerFolder, sweepContainerFolders } from "./container-folders.ts";
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
}

const REMEDY =
  "To use it, let this user reach a docker or podman daemon of this machine (ERRAND_DOCKER, DOCKER_HOST), and see that the image " +
  "of ERRAND_DOCKER_IMAGE is there or can be pulled.";

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
  readonly #images: DockerImages;
  #problem: Promise<string | undefined> | undefined;
  #host: Promise<DockerHost> | undefined;

  constructor(options: DockerOptions) {
    this.#options = options;
    this.#cli = new DockerCli(options.docker);
    this.#images = new DockerImages(this.#cli, {
      labels: this.#labelsOf(makeMarker(options.dataDir)),
      limits: options.limits,
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
    const prepare = () => this.#prepare(command, marker, name);
    return new DockerContainer({ cli: this.#cli, name, limits, prepare });
  }

  async sweep(): Promise<number> {
    const { dataDir } = this.#options;
    const orphans = await this.#listOrphans();
    await Promise.all(orphans.map((id) => removeContainer(this.#cli, id)));
    await sweepContainerFolders(dataDir);
    return orphans.length;
  }

  async #tryOnce(): Promise<string | undefined> {
    try {
      await this.#describeHost();
      const { dataDir } = this.#options;
      await tryContainer(this, await makeContainerFolder(dataDir, makeMarker(dataDir)));
      return undefined;
    } catch (error) {
      const reason = String(error instanceof Error ? error.message : error).replace(/[.?!\s]+$/, "");
      return `${reason}. ${REMEDY}`;
    }
  }

  async #prepare(command: SandboxCommand, marker: string, name: string): Promise<ContainerStart> {
    const { dataDir, image: defaultImage, limits } = this.#options;
    const [host, image] = await Promise.all([
      this.#describeHost(),
      command.image === undefined ? this.#prepareDefault(defaultImage) : this.#images.prepare(command.image),
    ]);
    const line = await ControlChannel.open(await makeContainerFolder(dataDir, marker), {
      argv: argvInside(command.argv),
      env: mergeEnvironments(image, command.env),
      ...(command.portForward === undefined ? {} : { portForward: command.portForward }),
    });
    const labels = this.#labelsOf(marker, command.label);
    const createArgs = containerArgs({ command, name, image, host, limits, labels, control: line.directory });
    return { line, createArgs };
  }

  /** The operator chose this image, so that its failure says nothing about the command. */
  async #prepareDefault(image: string): Promise<PreparedImage> {
    try {
      return await this.#images.prepare(image);
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
