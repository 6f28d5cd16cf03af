import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import { hostWords } from "../../core/model/repositories/host-words.ts";
import { isSameRepository, type RepositoryName } from "../../core/model/repositories/repository-name.ts";
import {
  type BranchPush,
  type ChangeTracker,
  LEFT_OUT_REASONS,
  type LeftOutWork,
  type PushedWork,
  type RepositoryDiff,
  type Restart,
  type Restarted,
  type RestartRequest,
  type WorkspaceChanges,
} from "../../core/ports/change-tracker.ts";
import type { Gateway } from "../../core/ports/gateway.ts";
import type { Committer } from "../../core/ports/repository-access.ts";
import type { RunWorkspace } from "../../core/ports/workspace-provider.ts";
import { EMPTY_TREE } from "../../git/remote-refs.ts";
import type { FoundCommit, RepositoryClones } from "../../git/repository-clones.ts";
import { COMMITTER } from "../../git/working-clone.ts";
import type { Sandbox } from "../../sandboxes/sandbox.ts";
import { RunDirectory } from "../run-directory.ts";
import { type ClonedRepository, readRecord, writeRecord } from "../workspace-record.ts";
import { changeProblem } from "./change-problem.ts";
import { DIFF, FAST_FORWARD, LIST_BYTES, OUTSIDE, PRINT_SNAPSHOT, PUSH, RESTART } from "./change-scripts.ts";
import { findGivenState, inputsOf } from "./given-state.ts";
import { readDiff } from "./read-diff.ts";
import { runScript, type ScriptEnd } from "./sandboxed-script.ts";
import { type HostCall, pushSigned } from "./signed-push.ts";
import { Snapshots } from "./snapshots.ts";

export interface ChangeTrackerOptions {
  readonly dataDir: string;
  readonly sandbox: Sandbox;
  /** Repositories are at `<gitUrl>/<owner>/<name>.git`. */
  readonly gitUrl: string;
  readonly variablesOf: (gateway: Gateway) => Readonly<Record<string, string>>;
  /** The newest commit of a branch, asked of the host; undefined: of the default branch. */
  readonly findCommit: RepositoryClones["find"];
  readonly limits?: Partial<ChangeLimits>;
}

export interface ChangeLimits {
  /** The limit for the patch of one repository. */
  readonly patchBytes: number;
  readonly lookMs: number;
  readonly pushMs: number;
}

const DEFAULT_LIMITS: ChangeLimits = { patchBytes: 5 * 2 ** 20, lookMs: 120_000, pushMs: 300_000 };
const OUTPUT_BYTES = 1_000;
const MESSAGE_CHARS = 10_000;
const PUSHED = /^([0-9a-f]{40,64})\n([^\n]*)\n?$/;
const LARGE_FILE = /^(\d{8,15}) (.{1,300})$/;
const ID = /^([0-9a-f]{40,64})\n$/;

/**
 * Runs git in the sandbox of the run. Which repositories were cloned, and at which commit, is read only from the run
 * directory.
 */
export function createChangeTracker(options: ChangeTrackerOptions): ChangeTracker {
  return {
    host: new URL(options.gitUrl).host || "the git host",
    takeSnapshot: (runWorkspace) => new RunChanges(options, runWorkspace).takeSnapshot(),
    fastForward: (runWorkspace) => new RunChanges(options, runWorkspace).fastForward(),
    diff: (runWorkspace, since, written) => new RunChanges(options, runWorkspace).diff(since, written),
    outside: (runWorkspace, repository, patterns) =>
      new RunChanges(options, runWorkspace).outside(repository, patterns),
    push: (runWorkspace, push) => new RunChanges(options, runWorkspace).push(push),
    restart: (runWorkspace, request) => new RunChanges(options, runWorkspace).restart(request),
    restartOf: (runWorkspace, repository) => new RunChanges(options, runWorkspace).restartOf(repository),
    wasEmpty: (runWorkspace, repository) => new RunChanges(options, runWorkspace).wasEmpty(repository),
    templateOf: (runWorkspace, repository) => new RunChanges(options, runWorkspace).templateOf(repository),
  };
}

class RunChanges {
  readonly #options: ChangeTrackerOptions;
  readonly #limits: ChangeLimits;
  readonly #runWorkspace: RunWorkspace;
  readonly #path: string;
  readonly #snapshots: Snapshots;

  constructor(options: ChangeTrackerOptions, runWorkspace: RunWorkspace) {
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#runWorkspace = runWorkspace;
    this.#path = new RunDirectory(options.dataDir, runWorkspace.runId).path;
    this.#snapshots = new Snapshots(this.#path);
  }

  async takeSnapshot(): Promise<void> {
    await this.#forEach(async (repository) => {
      const { folder } = repository;
      await this.#snapshots.set(folder, undefined);
      await this.#snapshots.forgetObjects(folder);
      const end = await this.#look(PRINT_SNAPSHOT, repository, [], OUTPUT_BYTES);
      const tree = idIn(end);
      if (tree === undefined) {
        throw changeProblem(repository, end);
      }
      await this.#snapshots.set(folder, tree);
    });
  }

  async fastForward(): Promise<readonly LeftOutWork[]> {
    const taken: LeftOutWork[] = [];
    await this.#forEach(async (repository) => {
      const { commit, folder } = repository;
      const from = (await this.#snapshots.find(folder)) ?? commit;
      const { exit, output } = await this.#look(FAST_FORWARD, repository, [from], LIST_BYTES);
      if (typeof exit === "object" && exit.code === 0) {
        taken.push(...leftOutOf(repository, output.toString("utf8").split("\0").slice(0, -1)));
      }
    });
    return taken;
  }

  async diff(since: "snapshot" | "clone", written: readonly string[] = []): Promise<WorkspaceChanges> {
    const diffs: RepositoryDiff[] = [];
    const leftOut: LeftOutWork[] = [];
    await this.#forEach(async (repository) => {
      const { commit, folder, name, owner } = repository;
      const snapshot = since === "snapshot" ? await this.#snapshots.find(folder) : undefined;
      const end = await this.#look(
        DIFF,
        repository,
        [snapshot ?? commit],
        this.#limits.patchBytes + 3 * LIST_BYTES + OUTPUT_BYTES,
        { written: written.map((path) => `${path}\n`).join("") },
      );
      const found = readDiff(end, this.#limits.patchBytes);
      if (found === undefined) {
        throw changeProblem(repository, end);
      }
      const { left, ...read } = found;
      leftOut.push(...leftOutOf(repository, left));
      if (read.filesChanged > 0 || read.isCut) {
        diffs.push({ repository: { owner, name }, base: commit, ...read });
      }
    });
    return { diffs, leftOut };
  }

  async outside(repository: RepositoryName, patterns: readonly string[]): Promise<readonly string[]> {
    const cloned = await this.#find(repository);
    if (cloned === undefined) {
      return [];
    }
    const others = patterns.map((pattern) => `:(top,exclude,glob)${pattern}`);
    const end = await this.#look(OUTSIDE, cloned, others, LIST_BYTES);
    if (typeof end.exit !== "object" || end.exit.code !== 0) {
      throw changeProblem(cloned, end);
    }
    return end.output.toString("utf8").split("\0").slice(0, -1);
  }

  async wasEmpty(repository: RepositoryName): Promise<boolean> {
    return (await this.#find(repository))?.commit === EMPTY_TREE;
  }

  async templateOf(repository: RepositoryName): Promise<string | undefined> {
    return (await this.#find(repository))?.template;
  }

  async restart(request: RestartRequest): Promise<Restarted | undefined> {
    const cloned = await this.#find(request.repository);
    if (cloned === undefined || cloned.restart?.after === request.after) {
      return undefined;
    }
    const { branch: base, commit } = await this.#findBase(cloned, request);
    if (base === undefined) {
      return undefined;
    }
    const end = await this.#withHost(cloned, {
      script: RESTART,
      args: [base, commit],
      env: identityOf(COMMITTER),
    });
    if (typeof end.exit !== "object" || end.exit.code !== 0) {
      throw changeProblem(cloned, end);
    }
    const { sandbox } = this.#options;
    const { given: _, ...rest } = { ...cloned, commit, branch: base };
    const given = await findGivenState(sandbox, this.#runWorkspace, rest, this.#path);
    const { after, branchNumber } = request;
    const restart = { runId: this.#runWorkspace.runId, after, branchNumber, base };
    const restarted = { ...rest, restart, ...defined({ given }) };
    const record = await readRecord(this.#path);
    const repositories = record.repositories.map((each) =>
      isSameRepository(each, cloned) ? restarted : each,
    );
    await writeRecord(this.#path, { ...record, repositories });
    return { base, commit };
  }

  async restartOf(repository: RepositoryName): Promise<Restart | undefined> {
    const { restart } = (await this.#find(repository)) ?? {};
    return restart?.runId === this.#runWorkspace.runId ? restart : undefined;
  }

  /** The base of a pull request may be deleted once it is merged. */
  async #findBase({ name, owner }: ClonedRepository, request: RestartRequest): Promise<FoundCommit> {
    const { base, teamId, withoutTeamToken = false } = request;
    const find = (ref?: string) => {
      const signal = AbortSignal.timeout(this.#limits.lookMs);
      return this.#options.findCommit({ teamId, withoutTeamToken, owner, name }, ref, signal);
    };
    return find(base).catch((error) => {
      if (base === undefined || (error instanceof AppError && error.retryable)) {
        throw error;
      }
      return find();
    });
  }

  async #find(repository: RepositoryName): Promise<ClonedRepository | undefined> {
    const { repositories } = await readRecord(this.#path);
    return repositories.find((each) => isSameRepository(each, repository));
  }

  async push(push: BranchPush): Promise<PushedWork | undefined> {
    const { branch, repository } = push;
    const cloned = await this.#find(repository);
    if (cloned === undefined) {
      return undefined;
    }
    const end = await this.#push(cloned, push);
    if (end.exit === "time-out" || end.exit === "cut" || end.exit.code !== 0) {
      const { address } = this.#runWorkspace.gateway;
      const errorText = hostWords(end.errorText).replaceAll(address, this.#options.gitUrl);
      throw changeProblem(cloned, { ...end, errorText }, largeFilesIn(end));
    }
    const [, commit, subject = ""] = PUSHED.exec(end.output.toString()) ?? [];
    if (commit === undefined) {
      return undefined;
    }
    const { name, owner } = cloned;
    // What the gateway saw counts more than the output of the script. The gateway sees no push when the branch is
    // already up to date.
    const observedPush = this.#runWorkspace.gateway.traffic.pushes.findLast(
      (each) => each.branch === branch && isSameRepository(each, cloned),
    );
    return { pushed: observedPush ?? { owner, name, branch, commit }, subject };
  }

  async #push(cloned: ClonedRepository, push: BranchPush): Promise<ScriptEnd> {
    const { branch, isShared, message, signsOff } = push;
    const { committer = COMMITTER, defaultBranch } = cloned;
    // A branch that others work on is never force-pushed.
    const isOwn = !(isShared || branch === defaultBranch || branch === cloned.branch);
    const env = { ...identityOf(committer), MESSAGE: message.slice(0, MESSAGE_CHARS) };
    const run = (call: HostCall) => this.#withHost(cloned, { ...call, env: { ...env, ...call.env } });
    const signed = await pushSigned({ ...push, isOwn }, run);
    return signed ?? run({ script: PUSH, args: [branch, isOwn ? "+" : "", signsOff ? "1" : ""], env: {} });
  }

  /** Runs a script that reaches the host through the gateway. Its address is `$3`. */
  #withHost(
    cloned: ClonedRepository,
    { maxOutputBytes = OUTPUT_BYTES, ...call }: HostCall,
  ): Promise<ScriptEnd> {
    const { gitUrl, sandbox, variablesOf } = this.#options;
    const { commit, folder, name, owner } = cloned;
    const url = `${gitUrl}/${owner}/${name}.git`;
    return runScript(
      {
        sandbox,
        runWorkspace: this.#runWorkspace,
        script: call.script,
        args: [folder, commit, url, ...call.args],
        inputs: inputsOf(cloned),
        env: { ...variablesOf(this.#runWorkspace.gateway), ...call.env },
        hasPortForward: true,
        writable: [],
        maxOutputBytes,
        timeoutMs: this.#limits.pushMs,
      },
      this.#path,
    );
  }

  async #look(
    script: string,
    cloned: ClonedRepository,
    args: readonly string[],
    maxOutputBytes: number,
    inputs: Readonly<Record<string, string>> = {},
  ): Promise<ScriptEnd> {
    const { commit, folder } = cloned;
    const objects = await this.#snapshots.objectsOf(folder);
    return runScript(
      {
        sandbox: this.#options.sandbox,
        runWorkspace: this.#runWorkspace,
        script,
        args: [folder, commit, ...args],
        inputs: { ...inputsOf(cloned), ...inputs },
        env: { OBJECTS: objects },
        hasPortForward: false,
        writable: [objects],
        maxOutputBytes,
        timeoutMs: this.#limits.lookMs,
      },
      this.#path,
    );
  }

  /** A broken repository does not hide the others. If all are broken, the first problem is reported. */
  async #forEach(work: (repository: ClonedRepository) => Promise<void>): Promise<void> {
    const { repositories } = await readRecord(this.#path);
    const problems: unknown[] = [];
    for (const repository of repositories) {
      await work(repository).catch((error) => problems.push(error));
    }
    if (problems.length > 0 && problems.length === repositories.length) {
      throw problems[0];
    }
  }
}

function identityOf({ email, name }: Committer): Readonly<Record<string, string>> {
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  };
}

/** What the script printed about the commits that could not be pushed. */
function largeFilesIn({ output }: ScriptEnd): readonly string[] {
  return output
    .toString("utf8")
    .split("\n")
    .flatMap((line) => {
      const [, bytes, path] = LARGE_FILE.exec(line) ?? [];
      return path === undefined ? [] : [`${path} (${Math.round(Number(bytes) / 2 ** 20)} MiB)`];
    });
}

/** The object id that a successful script printed. */
function idIn({ exit, output }: ScriptEnd): string | undefined {
  if (exit === "time-out" || exit === "cut" || exit.code !== 0) {
    return undefined;
  }
  return ID.exec(output.toString("latin1"))?.[1];
}

/** Reads what the scripts list as left out. What was there before the agent started is not its work. */
function leftOutOf(
  { given, name, owner }: ClonedRepository,
  lines: readonly string[],
): readonly LeftOutWork[] {
  const known = new Set(given?.leftOut ?? []);
  return lines
    .filter((line) => !known.has(line))
    .flatMap((line) => {
      const reason = LEFT_OUT_REASONS.find((each) => line.startsWith(`${each} `));
      return reason === undefined
        ? []
        : [{ repository: { owner, name }, reason, path: line.slice(reason.length + 1) }];
    });
}
