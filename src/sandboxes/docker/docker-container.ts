import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { PassThrough } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { z } from "zod";
import type { ListedProcess, SandboxExit, SandboxProcess } from "../sandbox.ts";
import { type SandboxLimits, withLimitNamed } from "../sandbox-limits.ts";
import { StderrHead } from "../stderr-head.ts";
import type { ControlChannel } from "./control-channel.ts";
import { type DockerCli, DockerError, ImageError, reasonIn } from "./docker-cli.ts";

export interface ContainerMeans {
  readonly cli: DockerCli;
  readonly name: string;
  readonly limits: SandboxLimits;
  /** Whether the command names an image. A start that fails is then a problem of that image. */
  readonly namesImage: boolean;
  /** Finds out what `create` needs: the daemon and the image. Aborted when the container is no longer needed. */
  readonly prepare: (signal: AbortSignal) => Promise<ContainerStart>;
}

export interface ContainerStart {
  readonly line: ControlChannel;
  readonly createArgs: readonly string[];
}

const stateOf = z.object({
  Status: z.string(),
  OOMKilled: z.boolean().default(false),
  ExitCode: z.number(),
  Error: z.string().default(""),
});

const IMAGE_PROBLEM: Pick<SandboxExit, "isImageProblem" | "remedy"> = {
  isImageProblem: true,
  remedy: "Correct the image of the environment, or make it available where the worker's containers run.",
};
const KILLED: SandboxExit = { code: null, signal: "SIGKILL" };

const REMOVE_TRIES = 5;
const REMOVE_EVERY_MS = 500;

/** Runs a command in its own container, from preparation to removal. */
export class DockerContainer implements SandboxProcess {
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
  readonly exited: Promise<SandboxExit>;
  readonly #means: ContainerMeans;
  readonly #unwanted = new AbortController();
  readonly #cleanedUp: Promise<void>;
  #start: ContainerStart | undefined;
  #isCreating = false;
  #isCreated = false;
  #attached: ChildProcessWithoutNullStreams | undefined;
  #removal: Promise<void> | undefined;

  constructor(means: ContainerMeans) {
    this.#means = means;
    this.exited = this.#live();
    this.#cleanedUp = this.exited.then(() => this.#cleanUp());
    // The caller of `kill` gets the error. Otherwise the next sweep finds what is left.
    this.#cleanedUp.catch(() => undefined);
  }

  async kill(): Promise<void> {
    this.#unwanted.abort();
    // Comes first, because the daemon would wait for a reader of the output.
    this.#attached?.kill("SIGKILL");
    if (this.#isCreated) {
      await this.#remove();
    }
    await this.#cleanedUp;
  }

  async list(): Promise<readonly ListedProcess[]> {
    return (await this.#start?.line.list()) ?? [];
  }

  async end(processes: readonly ListedProcess[]): Promise<void> {
    await this.#start?.line.end(processes);
  }

  async #live(): Promise<SandboxExit> {
    try {
      return await this.#run();
    } catch (error) {
      this.stdout.end();
      this.stderr.end();
      if (this.#unwanted.signal.aborted) {
        return KILLED;
      }
      const reason = error instanceof Error ? error.message : String(error);
      const isDaemonAway = error instanceof DockerError && error.isUnreachable;
      return error instanceof ImageError || (this.#isCreating && !isDaemonAway)
        ? this.#notStarted(reason)
        : { code: 127, signal: null, reason };
    } finally {
      this.stdin.destroy();
    }
  }

  async #run(): Promise<SandboxExit> {
    this.#start = await this.#orUnwanted(this.#means.prepare(this.#unwanted.signal));
    // Never aborted, because a container can only be removed after it has been created.
    this.#isCreating = true;
    await this.#means.cli.call(this.#start.createArgs);
    this.#isCreating = false;
    this.#isCreated = true;
    this.#unwanted.signal.throwIfAborted();
    this.#attached = this.#means.cli.spawn(["start", "--attach", "--interactive", this.#means.name]);
    const stderrHead = this.#connect(this.#attached);
    const failure = await ending(this.#attached);
    return this.#unwanted.signal.aborted ? KILLED : await this.#exitOf(stderrHead, failure);
  }

  #connect({ stderr, stdin, stdout }: ChildProcessWithoutNullStreams): StderrHead {
    const stderrHead = new StderrHead(stderr);
    stdout.pipe(this.stdout);
    stderrHead.stderr.pipe(this.stderr);
    this.stdin.pipe(stdin);
    // The command closed its input. The writer gets the error, as with any process.
    stdin.on("error", (error) => this.stdin.destroy(error));
    return stderrHead;
  }

  /** The exit code of the docker program is not enough, because the command may end with any code. */
  async #exitOf(stderrHead: StderrHead, failure: string | undefined): Promise<SandboxExit> {
    const { cli, limits, name } = this.#means;
    if (failure !== undefined) {
      return { code: 127, signal: null, reason: failure };
    }
    try {
      const state = stateOf.parse(
        JSON.parse(await cli.call(["inspect", "--format", "{{json .State}}", name])),
      );
      const reason = state.Error || reasonIn(await stderrHead.text());
      if (["created", "configured", "initialized"].includes(state.Status)) {
        return this.#notStarted(reason);
      }
      const exit = { code: state.ExitCode, signal: null };
      const errorText = exit.code === 127 ? await stderrHead.forwarderError() : undefined;
      if (errorText !== undefined) {
        return this.#notStarted(errorText);
      }
      return withLimitNamed(exit, limits, state.OOMKilled ? 1 : 0);
    } catch (error) {
      if (this.#unwanted.signal.aborted) {
        return KILLED;
      }
      return { code: null, signal: null, reason: tellLoss(error) };
    }
  }

  #notStarted(reason: string): SandboxExit {
    return { code: 127, signal: null, reason, ...(this.#means.namesImage ? IMAGE_PROBLEM : {}) };
  }

  async #cleanUp(): Promise<void> {
    if (this.#isCreated) {
      await this.#remove();
    }
    await this.#start?.line.remove();
  }

  #remove(): Promise<void> {
    this.#removal ??= this.#removeOnce();
    return this.#removal;
  }

  /**
   * An unreachable daemon cannot end the container. The container ends by itself then, and a sweep removes the rest.
   */
  async #removeOnce(): Promise<void> {
    const hasEnded = this.#start?.line.cut();
    try {
      await removeContainer(this.#means.cli, this.#means.name);
    } catch (error) {
      const isDaemonAway = error instanceof DockerError && error.isUnreachable;
      if (!isDaemonAway || (await hasEnded) !== true) {
        throw error;
      }
    }
  }

  /** Waiting ends when the container is no longer needed. What is prepared after that is removed. */
  async #orUnwanted(preparation: Promise<ContainerStart>): Promise<ContainerStart> {
    const { signal } = this.#unwanted;
    const { promise, reject } = Promise.withResolvers<never>();
    const giveUp = () => reject(signal.reason);
    signal.addEventListener("abort", giveUp);
    if (signal.aborted) {
      giveUp();
    }
    try {
      return await Promise.race([preparation, promise]);
    } catch (error) {
      preparation.then(({ line }) => line.remove()).catch(() => undefined);
      throw error;
    } finally {
      signal.removeEventListener("abort", giveUp);
    }
  }
}

/** Also removes a running container. Resolves when it is gone. */
export async function removeContainer(cli: DockerCli, name: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await cli.call(["rm", "--force", "--volumes", name]);
      return;
    } catch (error) {
      if (error instanceof DockerError && error.isMissing) {
        return;
      }
      if (tries === REMOVE_TRIES) {
        throw error;
      }
    }
    await setTimeout(REMOVE_EVERY_MS);
  }
}

/** Why the docker program could not be run; undefined when it ran and ended. */
function ending(child: ChildProcessWithoutNullStreams): Promise<string | undefined> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", () => resolve(undefined));
  });
}

function tellLoss(error: unknown): string {
  return `The container was lost: ${error instanceof Error ? error.message : error}`;
}
