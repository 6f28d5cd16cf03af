import type { RepositoryName, TeamAccess } from "../model/repositories/repository-name.ts";
import type { ChangedFile } from "../model/workspaces/repository-changes.ts";
import type { PushedBranch } from "./gateway.ts";
import type { RunWorkspace } from "./workspace-provider.ts";

/** Tracks what a run changes in the repositories of its workspace. */
export interface ChangeTracker {
  /** The name of the host of the repositories, for people. */
  readonly host: string;
  /** Records the state of the repositories before a turn. */
  takeSnapshot(runWorkspace: RunWorkspace): Promise<void>;
  /**
   * Looks for work of the agent on another branch, in another worktree or in a stash. Brings it into the checked-out
   * branch if this cannot lose anything: the work is in one place, it continues the branch, and the branch and its working
   * tree have not changed since the snapshot. Returns where that work was.
   */
  fastForward(runWorkspace: RunWorkspace): Promise<readonly LeftOutWork[]>;
  /**
   * The changes since that snapshot, or since the repositories were cloned. Lists only changed repositories. `written`:
   * files that tools of the agent wrote, to name those that git ignores.
   */
  diff(
    runWorkspace: RunWorkspace,
    since: "snapshot" | "clone",
    written?: readonly string[],
  ): Promise<WorkspaceChanges>;
  /**
   * The files that the run has changed since the clone and that match none of the patterns. What it merged from the host
   * is not its change.
   */
  outside(
    runWorkspace: RunWorkspace,
    repository: RepositoryName,
    patterns: readonly string[],
  ): Promise<readonly string[]>;
  /**
   * Commits uncommitted changes, and pushes everything since the clone to `branch`, which is created or moved.
   * Undefined when there is nothing to push. Can be repeated.
   */
  push(runWorkspace: RunWorkspace, push: BranchPush): Promise<PushedWork | undefined>;
  /**
   * Puts the repository at the head of a branch of its host, as if it were cloned now, once for each pull request `after`
   * which it begins again. Earlier work stays in the clone under a ref of its own. Undefined: there is nothing to do.
   */
  restart(runWorkspace: RunWorkspace, request: RestartRequest): Promise<Restarted | undefined>;
  /** The last restart of the repository in this run. */
  restartOf(runWorkspace: RunWorkspace, repository: RepositoryName): Promise<Restart | undefined>;
  /** Whether the repository had no commit when it was cloned, so there is no branch to merge into. */
  wasEmpty(runWorkspace: RunWorkspace, repository: RepositoryName): Promise<boolean>;
  /** The repository's template of pull requests, as it was cloned. */
  templateOf(runWorkspace: RunWorkspace, repository: RepositoryName): Promise<string | undefined>;
}

export interface RestartRequest extends TeamAccess {
  readonly repository: RepositoryName;
  /** The branch to begin at. If it is gone, or undefined, the default branch is used. */
  readonly base?: string;
  /** Of the branch for the work that follows. */
  readonly branchNumber: number;
  /** The address of the pull request whose work is not continued. */
  readonly after: string;
}

/** Where the work of a run goes after a restart. */
export interface Restart {
  /** 2 for the second branch of the run, and so on. */
  readonly branchNumber: number;
  /** The branch to merge into. */
  readonly base: string;
}

export interface Restarted {
  readonly base: string;
  readonly commit: string;
}

export interface WorkspaceChanges {
  readonly diffs: readonly RepositoryDiff[];
  /** What the agent made that neither a diff nor a push contains. */
  readonly leftOut: readonly LeftOutWork[];
}

export const LEFT_OUT_REASONS = [
  "large",
  "unreadable",
  "deep",
  "repository",
  "submodule",
  "ignored",
  "worktree",
  "branch",
  "stash",
] as const;

/** A file, folder, worktree, branch or stash that is in no diff. */
export interface LeftOutWork {
  readonly repository: RepositoryName;
  readonly reason: (typeof LEFT_OUT_REASONS)[number];
  readonly path: string;
}

export interface RepositoryDiff {
  readonly repository: RepositoryName;
  /** A unified diff for `git apply`. `isCut` tells whether it was cut at the size limit. */
  readonly patch: Uint8Array;
  readonly isCut: boolean;
  readonly filesChanged: number;
  /** The commit that was cloned. */
  readonly base: string;
  /** The changed files, as far as the list is not too long. */
  readonly files: readonly ChangedFile[];
}

export interface PushedWork {
  readonly pushed: PushedBranch;
  /** What was done: the subject of the agent's first commit since the clone, otherwise that of the message. */
  readonly subject: string;
}

export interface BranchPush {
  readonly repository: RepositoryName;
  readonly branch: string;
  /** People work on the branch too: their commits there are never replaced. */
  readonly isShared?: true;
  /** Each commit that is pushed gets the line `Signed-off-by` of its author, also those of the agent. */
  readonly signsOff?: boolean;
  /** The host makes the commits and signs them. What it cannot make is pushed as it is. */
  readonly signing?: CommitSigning;
  readonly message: string;
}

export interface CommitSigning {
  /** `name <address>` of the person who asked for the work, whom each commit names. */
  readonly coAuthor?: string;
  /** Makes these commits at the host, parents first, and returns the id of the last one. */
  make(commits: readonly NewCommit[]): Promise<string>;
  /** The commits are pushed without the host's signature. `reason` is the end of a sentence. */
  notSigned(reason: string): void;
}

/** A commit that the host does not have. */
export interface NewCommit {
  readonly id: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly tree: string;
  /** The tree from which `files` differ, which the host has. Undefined: the commit has only these files. */
  readonly baseTree?: string;
  readonly files: readonly NewFile[];
}

export interface NewFile {
  readonly path: string;
  /** As git writes it: `100644`, `100755`, `120000` for a link, `160000` for a submodule. */
  readonly mode: string;
  /** Undefined: the file is deleted. */
  readonly id?: string;
  /** A string if it is UTF-8 text. Undefined: the host has it, or it is a submodule. */
  readonly content?: string | Uint8Array;
}
