import { access, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../core/basics/errors.ts";
import type { AgentDefinition, NpmPackage } from "../agent-definition.ts";
import type { AgentInstaller } from "./agent-installer.ts";
import { type AgentVersions, isPackaged, type PackagedAgent } from "./agent-versions.ts";
import { compareVersions, VERSION } from "./compare-versions.ts";
import { type LockTiming, whileLocked } from "./install-lock.ts";
import { findLockfileProblems, resolveLockfile } from "./lockfile.ts";
import { npmNewest } from "./npm-install.ts";

export interface AgentUpdaterOptions {
  readonly versions: AgentVersions;
  readonly installer: Pick<AgentInstaller, "provide">;
  /** The environment of npm. */
  readonly variables: Readonly<Record<string, string>>;
  /** Starts the agent as a run does, with its files in a folder, and ends it. Rejects if the agent does not start. */
  readonly tryAgent: (agent: AgentDefinition, folder: string, signal: AbortSignal) => Promise<void>;
  readonly timing?: LockTiming;
}

interface Job {
  readonly report: (text: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Changes the version of an agent on this machine. A version is installed beside the one in use and started once before
 * the next run uses it. After a failure the one in use stays.
 */
export class AgentUpdater {
  readonly #options: AgentUpdaterOptions;

  constructor(options: AgentUpdaterOptions) {
    this.#options = options;
  }

  /** `version`: an exact one. Undefined: the newest. */
  async update(agent: AgentDefinition, version: string | undefined, job: Job): Promise<void> {
    requirePackage(agent);
    if (version !== undefined && !VERSION.test(version)) {
      throw new AppError("invalid_request", `${version} is not a version such as 1.2.3.`);
    }
    await this.#change(agent, job, async (inUse) => {
      const wanted = version ?? (await this.#newest(agent, job.signal));
      if (version === undefined && compareVersions(wanted, inUse.version) <= 0) {
        return inUse;
      }
      return await this.#resolve(agent, wanted, job);
    });
  }

  /** Uses the version again that was in use before. */
  async rollBack(agent: AgentDefinition, job: Job): Promise<void> {
    requirePackage(agent);
    await this.#change(agent, job, async () => {
      const { previous } = await this.#options.versions.of(agent);
      if (previous === undefined) {
        throw new AppError("conflict", `There is no earlier version of ${agent.displayName}.`, {
          remedy: `Name a version: update ${agent.name}@VERSION.`,
        });
      }
      return previous.npmPackage;
    });
  }

  /** Only one command at a time changes an agent. */
  async #change(
    agent: PackagedAgent,
    job: Job,
    choose: (inUse: NpmPackage) => Promise<NpmPackage>,
  ): Promise<void> {
    const { timing, versions } = this.#options;
    const folder = versions.folderOf(agent);
    await mkdir(folder, { recursive: true });
    const lock = `${folder}.lock`;
    if (await exists(lock)) {
      job.report(`Waiting for another command that changes ${agent.displayName}.`);
    }
    const work = async () => {
      const { npmPackage: inUse } = (await versions.of(agent)).inUse;
      try {
        job.signal.throwIfAborted();
        await versions.removeLeftovers(agent);
        await this.#switch(agent, inUse, await choose(inUse), job);
      } catch (error) {
        const expected = isOfSystem(error) ? new AppError("environment_setup_failed", error.message) : error;
        throw expected instanceof AppError ? stays(agent, inUse, expected) : expected;
      }
    };
    await whileLocked(lock, async () => false, work, timing);
  }

  async #switch(agent: PackagedAgent, inUse: NpmPackage, next: NpmPackage, job: Job): Promise<void> {
    if (next.lockDirectory === inUse.lockDirectory) {
      job.report(`${agent.displayName} ${inUse.version} is in use already.`);
      return;
    }
    const { installer, tryAgent, versions } = this.#options;
    const candidate = { ...agent, npmPackage: next };
    await installer.provide(candidate, job.report, job.signal);
    job.report(`Starting ${agent.displayName} ${next.version} once, as a run does.`);
    await tryAgent(candidate, versions.folderOf(agent), job.signal);
    await versions.use(agent, next);
    job.report(
      `${agent.displayName} ${next.version} is in use from the next run on, instead of ${inUse.version}.`,
    );
  }

  /** The catalogue's own version has a lockfile that was tested with Errand. */
  async #resolve(agent: PackagedAgent, version: string, { report, signal }: Job): Promise<NpmPackage> {
    const { variables, versions } = this.#options;
    if (version === agent.npmPackage.version) {
      return agent.npmPackage;
    }
    report(`Resolving ${agent.npmPackage.name}@${version} and its dependencies.`);
    const wanted = { name: agent.npmPackage.name, version };
    const { missing, text } = await resolveLockfile(wanted, {
      root: versions.folderOf(agent),
      variables,
      signal,
    });
    if (missing.length > 0) {
      report(`The registry does not have these optional packages of it: ${missing.join(", ")}.`);
    }
    const npmPackage = await versions.add(agent, version, text);
    const problems = await findLockfileProblems(npmPackage);
    if (problems.length > 0) {
      throw new AppError(
        "environment_setup_failed",
        `The lockfile does not pin it: ${problems.join("; ")}.`,
        {
          remedy: "Use a registry that has SHA-512 checksums, or another version.",
        },
      );
    }
    return npmPackage;
  }

  async #newest(agent: PackagedAgent, signal: AbortSignal): Promise<string> {
    const { variables, versions } = this.#options;
    const directory = versions.folderOf(agent);
    const home = join(directory, ".npm");
    try {
      return await npmNewest(agent.npmPackage.name, { variables, signal, directory, home });
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  }
}

function requirePackage(agent: AgentDefinition): asserts agent is PackagedAgent {
  if (!isPackaged(agent)) {
    throw new AppError(
      "operation_not_supported",
      `${agent.displayName} is not installed from npm, so it has no other versions.`,
    );
  }
}

/** For example a full disk, or a directory of another user. */
function isOfSystem(error: unknown): error is Error {
  return error instanceof Error && "syscall" in error;
}

function stays({ displayName, name }: PackagedAgent, { version }: NpmPackage, error: AppError): AppError {
  return new AppError(error.code, `${displayName} stays at ${version}. ${error.message}`, {
    remedy: `Name another version: update ${name}@VERSION.`,
    ...error.options,
    cause: error,
  });
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
