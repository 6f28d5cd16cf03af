import { createHash } from "node:crypto";
import {
  access,
  chmod,
  copyFile,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { setInterval } from "node:timers/promises";
import { AppError } from "../../core/basics/errors.ts";
import type { AgentPrograms } from "../agent-definition.ts";
import { type AgentDefinition, manifestOf, type NpmPackage } from "../agent-definition.ts";
import { type LockTiming, whileLocked } from "./install-lock.ts";
import { LOCKFILE_NAME } from "./lockfile.ts";
import { npmInstall } from "./npm-install.ts";

export interface AgentInstallerOptions {
  readonly dataDir: string;
  /** The environment of npm: PATH, and the operator's settings for npm, proxies and certificates. */
  readonly variables: Readonly<Record<string, string>>;
  readonly timing?: LockTiming;
  /** How often the progress of an installation is reported. */
  readonly progressMs?: number;
}

const HASH_LENGTH = 8;
const PROGRESS_MS = 3_000;
const MEGABYTE = 1_000_000;

type Report = (text: string) => void;
type Packaged = AgentDefinition & { readonly npmPackage: NpmPackage };

interface Installation {
  readonly ended: Promise<void>;
  readonly listeners: Set<Report>;
}

/**
 * Installs agents on first use, each into `<dataDir>/agents/<name>@<version>-<hash of its lockfile>`. Such a directory is
 * always complete, because it is filled under another name first. An interrupted installation starts again and finds the
 * downloads in npm's cache.
 */
export class AgentInstaller implements Omit<AgentPrograms, "current"> {
  readonly #options: AgentInstallerOptions;
  readonly #root: string;
  readonly #running = new Map<string, Installation>();
  readonly #closing = new AbortController();

  constructor(options: AgentInstallerOptions) {
    this.#options = options;
    this.#root = join(options.dataDir, "agents");
  }

  async isThere(agent: AgentDefinition): Promise<boolean> {
    return isPackaged(agent) ? exists(await this.#directoryOf(agent)) : hasProgram(agent, "");
  }

  async provide(agent: AgentDefinition, report: Report, signal: AbortSignal): Promise<string> {
    if (!isPackaged(agent)) {
      return "";
    }
    const directory = await this.#directoryOf(agent);
    if (await exists(directory)) {
      // Agents that have not been used for a long time are deleted.
      const now = new Date();
      await utimes(directory, now, now).catch(() => undefined);
      return directory;
    }
    const installation = this.#running.get(directory) ?? this.#begin(agent, directory);
    installation.listeners.add(report);
    report(
      `Installing ${agent.displayName} ${agent.npmPackage.version} (${agent.npmPackage.name} from npm).`,
    );
    try {
      await unlessAborted(installation.ended, signal);
    } finally {
      installation.listeners.delete(report);
    }
    return directory;
  }

  /** Ends running installations. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(Array.from(this.#running.values(), ({ ended }) => ended));
  }

  /** Another lockfile is another installation, even of the same version: an update may repair one dependency alone. */
  async #directoryOf({ name, npmPackage }: Packaged): Promise<string> {
    const lockfile = await readFile(lockfileOf(npmPackage));
    const hash = createHash("sha256").update(lockfile).digest("hex").slice(0, HASH_LENGTH);
    return join(this.#root, `${name}@${npmPackage.version}-${hash}`);
  }

  #begin(agent: Packaged, directory: string): Installation {
    const listeners = new Set<Report>();
    const report = (text: string) => {
      for (const listener of listeners) {
        listener(text);
      }
    };
    const ended = this.#install(agent, directory, report).finally(() => this.#running.delete(directory));
    // The caller may be gone.
    ended.catch(() => undefined);
    const installation = { ended, listeners };
    this.#running.set(directory, installation);
    return installation;
  }

  async #install(agent: Packaged, directory: string, report: Report): Promise<void> {
    await mkdir(this.#root, { recursive: true });
    const begun = performance.now();
    const isDone = () => exists(directory);
    await whileLocked(
      `${directory}.lock`,
      isDone,
      () => this.#fill(agent, directory, report),
      this.#options.timing,
    );
    const seconds = Math.max(1, Math.round((performance.now() - begun) / 1_000));
    report(`${agent.displayName} is installed (${seconds} s, ${await megabytesIn(directory)} MB).`);
  }

  async #fill(agent: Packaged, directory: string, report: Report): Promise<void> {
    await this.#removeLeftovers(agent.name);
    const half = await mkdtemp(join(this.#root, `.half-${agent.name}-`));
    const home = join(this.#root, `.npm-${agent.name}`);
    const stopProgress = this.#reportProgress(agent, { home, half }, report);
    try {
      await this.#fetch(agent, half, home);
      await put(half, directory);
    } finally {
      await stopProgress();
      await rm(half, { recursive: true, force: true });
    }
  }

  /** npm reports nothing without a terminal, so the files that it writes are measured. */
  #reportProgress(
    { displayName }: Packaged,
    { half, home }: { readonly half: string; readonly home: string },
    report: Report,
  ): () => Promise<void> {
    const stop = new AbortController();
    let last = "";
    const watch = async (): Promise<void> => {
      for await (const _ of setInterval(this.#options.progressMs ?? PROGRESS_MS, undefined, {
        signal: stop.signal,
      })) {
        const megabytes = (await megabytesIn(home)) + (await megabytesIn(half));
        const text = `Installing ${displayName}: ${megabytes} MB written so far.`;
        if (text !== last && !stop.signal.aborted) {
          report(text);
        }
        last = text;
      }
    };
    // The timer rejects when it is stopped.
    const watched = watch().catch(() => undefined);
    return async () => {
      stop.abort();
      await watched;
    };
  }

  async #fetch({ npmPackage, ...agent }: Packaged, directory: string, home: string): Promise<void> {
    await mkdir(home, { recursive: true });
    // The user of the sandbox may be another one and must be able to read it.
    await chmod(directory, 0o755);
    await writeFile(join(directory, "package.json"), JSON.stringify(manifestOf(npmPackage)));
    await copyFile(lockfileOf(npmPackage), join(directory, LOCKFILE_NAME));
    const { signal } = this.#closing;
    await npmInstall({ npmPackage, directory, home, variables: this.#options.variables, signal });
    if (!(await hasProgram(agent, directory))) {
      throw noProgram(agent, npmPackage);
    }
    await rm(home, { recursive: true, force: true });
  }

  /** Removes what a killed installation left. The lock makes sure that no other one runs. */
  async #removeLeftovers(name: string): Promise<void> {
    const names = await readdir(this.#root);
    const left = names.filter((each) => each.startsWith(`.half-${name}-`));
    await Promise.all(left.map((each) => rm(join(this.#root, each), { recursive: true, force: true })));
  }
}

function isPackaged(agent: AgentDefinition): agent is Packaged {
  return agent.npmPackage !== undefined;
}

function lockfileOf({ lockDirectory }: NpmPackage): string {
  return join(lockDirectory, LOCKFILE_NAME);
}

/** Whether all programs of the launch exist. A package may have none for this machine. */
async function hasProgram(agent: AgentDefinition, directory: string): Promise<boolean> {
  const { argv, readable } = agent.launch({
    directory,
    address: "",
    servers: {},
    home: "",
    permissionPolicy: "allow",
  });
  const paths = [...readable, ...argv.filter((word) => word.startsWith("/"))];
  return (await Promise.all(paths.map(exists))).every(Boolean);
}

function noProgram({ displayName }: AgentDefinition, { name, version }: NpmPackage): AppError {
  const machine = `${process.platform}-${process.arch}`;
  const message = `${name}@${version} has no program for this machine (${machine}).`;
  return new AppError("environment_setup_failed", message, {
    remedy: `Choose another agent than ${displayName}, another version of it, or another machine.`,
  });
}

/** Another process may have installed the same package first. */
async function put(half: string, directory: string): Promise<void> {
  try {
    await rename(half, directory);
  } catch (error) {
    if (!(await exists(directory))) {
      throw error;
    }
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Files may disappear meanwhile, because npm moves them. */
async function megabytesIn(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map((file) => sizeOf(join(file.parentPath, file.name))));
  return Math.round(sizes.reduce((sum, size) => sum + size, 0) / MEGABYTE);
}

async function sizeOf(path: string): Promise<number> {
  return lstat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

async function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const giveUp = () => reject(new AppError("internal_error", "The agent is no longer needed."));
  if (signal.aborted) {
    giveUp();
  }
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", giveUp);
    aborted.catch(() => undefined);
  }
}
