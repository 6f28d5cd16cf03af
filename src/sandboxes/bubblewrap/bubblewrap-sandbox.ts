import { text } from "node:stream/consumers";
import { makeMarker, sweepOrphans } from "../linux-processes.ts";
import { withPortForward } from "../port-forward.ts";
import { imageRefused } from "../refused-process.ts";
import type { Sandbox, SandboxCommand, SandboxProcess } from "../sandbox.ts";
import type { SandboxLimits } from "../sandbox-limits.ts";
import { readSeccompProfile } from "../seccomp-profile.ts";
import { BubblewrapProcess } from "./bubblewrap-process.ts";
import { bubblewrapRemedy, readHostFacts } from "./bubblewrap-remedy.ts";
import { type CgroupParent, CONTROLLERS, findCgroupParents, sweepCgroups } from "./cgroup.ts";
import { compileFilter, encodeFilter } from "./seccomp-filter.ts";
import { SYSTEM_CALLS } from "./system-calls.ts";

export interface BubblewrapOptions {
  readonly dataDir: string;
  readonly limits: SandboxLimits;
  readonly program?: string;
  /** Where the program is looked up. Default: that of the system. */
  readonly path?: string;
}

const SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin";

/** All sandboxes of this process have the same filter. */
const FILTER = filterFor(process.arch);

const UNFILTERED =
  "The system calls of agents are not filtered, because there is no filter for the processor of this machine: use docker.";

const LIMITED = { memory: "memory", cpu: "processors", pids: "number of processes" };

/**
 * Isolates by Linux namespaces without a daemon: processes, network and file system. README.md in this folder lists
 * what it guarantees.
 */
export function createBubblewrapSandbox(options: BubblewrapOptions): Sandbox {
  return new BubblewrapSandbox(options);
}

class BubblewrapSandbox implements Sandbox {
  readonly name = "bubblewrap";
  readonly isolated = true;
  readonly hasLoopback = true;
  readonly hasMounts = true;
  readonly hasImages = false;
  readonly #options: BubblewrapOptions;
  #problem: Promise<string | undefined> | undefined;
  #parents: Promise<readonly CgroupParent[]> | undefined;

  constructor(options: BubblewrapOptions) {
    this.#options = options;
  }

  unavailable(): Promise<string | undefined> {
    this.#problem ??= this.#tryOnce();
    return this.#problem;
  }

  async weaknesses(): Promise<readonly string[]> {
    const held = (await this.#findParents()).flatMap(({ controllers }) => controllers);
    // The processes of any user except root are limited even without a cgroup.
    if (process.getuid?.() !== 0) {
      held.push("pids");
    }
    const missing = CONTROLLERS.filter((controller) => !held.includes(controller));
    const unfiltered = FILTER === undefined ? [UNFILTERED] : [];
    if (missing.length === 0) {
      return unfiltered;
    }
    const what = missing.map((controller) => LIMITED[controller]).join(", ");
    return [
      ...unfiltered,
      `These are not limited for agents: ${what}. No cgroup can be made here: run the worker as a service of systemd ` +
        "with Delegate=yes and DelegateSubgroup=worker, or as root, or use docker.",
    ];
  }

  spawn(command: SandboxCommand): SandboxProcess {
    if (command.image !== undefined) {
      return imageRefused(command.image, this.name);
    }
    const { dataDir, limits, path = SYSTEM_PATH, program = "bwrap" } = this.#options;
    const marker = makeMarker(dataDir);
    return new BubblewrapProcess(withPortForward(command), {
      program,
      path,
      marker,
      limits,
      filter: FILTER,
      parents: this.#findParents(),
    });
  }

  async sweep(): Promise<number> {
    const { dataDir } = this.#options;
    const killed = await sweepOrphans(dataDir);
    await sweepCgroups(await this.#findParents(), dataDir);
    return killed;
  }

  #findParents(): Promise<readonly CgroupParent[]> {
    this.#parents ??= findCgroupParents();
    return this.#parents;
  }

  /**
   * An installed program is not enough, because kernels and containers may forbid namespaces. So it is tried once.
   */
  async #tryOnce(): Promise<string | undefined> {
    const argv = ["/bin/sh", "-c", "exit 0"] as const;
    const inside = this.spawn({ argv, env: {}, cwd: "/tmp", writable: [], readable: [] });
    inside.stdin.on("error", () => {}).end();
    inside.stdout.resume();
    const [exit, errorText] = await Promise.all([inside.exited, text(inside.stderr)]);
    await inside.kill();
    if (exit.code === 0) {
      return undefined;
    }
    const reason = (exit.reason ?? errorText).trim().replace(/\.$/, "");
    return `${reason.replace(/spawn (\S+) ENOENT/, "$1 is not installed")}. ${bubblewrapRemedy(reason, await readHostFacts())}`;
  }
}

function filterFor(processor: string): Buffer | undefined {
  const systemCalls = SYSTEM_CALLS.get(processor);
  return systemCalls && encodeFilter(compileFilter(readSeccompProfile(), systemCalls));
}
