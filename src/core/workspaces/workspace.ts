import type { Gateway } from "../agents/gateway.ts";
import type { StoredFile } from "../artifacts/artifact.ts";
import type { RunId } from "../ids.ts";
import type { RepositoryName, TeamAccess } from "../repositories/repository-name.ts";
import type { SkillFiles } from "../skills/skill.ts";

/** The files of a run on this worker's disk. Nothing in it is needed once its checkpoint is stored. */
export interface Workspace extends WorkspacePaths {
  /**
   * The paths under which processes in the sandbox see the same files. Undefined: the same paths, because the sandbox
   * cannot show directories at another place.
   */
  readonly inside?: WorkspacePaths;
}

export interface WorkspacePaths {
  /**
   * Everything that the run may write to, except `home`: one folder for each repository, `artifacts/`, and the input
   * files.
   */
  readonly directory: string;
  /** Where the agent starts: in its repository if there is exactly one, otherwise in `directory`. */
  readonly workingDirectory: string;
  /** The agent's HOME. It is stored with the workspace so that the agent's session can be resumed. */
  readonly home: string;
}

/**
 * The workspace in which a run works. Git runs in its sandbox, because the agent can manipulate the repositories there.
 */
export interface RunWorkspace {
  readonly runId: RunId;
  readonly workspace: Workspace;
  readonly gateway: Gateway;
  readonly image?: string;
}

/** A workspace that is ready to work in. */
export interface PreparedWorkspace extends Workspace {
  /** The files were on this worker already, so they include what no checkpoint contains. */
  readonly isOwnCopy: boolean;
  /** What was stored once and is no longer stored. Undefined: nothing. */
  readonly gone?: GoneFiles;
}

/** How a workspace differs from its newest checkpoint. */
export interface GoneFiles {
  /** What the files were restored from: the work alone, or the checkpoint without the changes after it. */
  readonly restored: "work" | "checkpoint";
  /** Paths relative to the workspace that the work does not contain and that are still missing. */
  readonly paths: readonly string[];
}

/** The same on every worker, so that nothing a run stores depends on the disk of one. */
export const WORKSPACE_INSIDE = "/workspace";
export const HOME_INSIDE = "/home/agent";

/** The paths that processes in the sandbox see. */
export function pathsInside(workspace: Workspace): WorkspacePaths {
  return workspace.inside ?? workspace;
}

/** The workspace and the home, as the directories that a command in the sandbox may write to. */
export function workspaceAccess({ directory, home, inside }: Workspace) {
  if (inside === undefined) {
    return { writable: [directory, home], mounts: [] };
  }
  return {
    writable: [],
    mounts: [
      { source: directory, target: inside.directory },
      { source: home, target: inside.home },
    ],
  };
}

/** Environment variables that report every process in the workspace where its folders are. */
export function workspaceVariables(workspace: Workspace): Readonly<Record<string, string>> {
  return { ERRAND_ARTIFACTS_DIR: `${pathsInside(workspace).directory}/artifacts` };
}

/** A path of this worker's disk, and what a reader is shown instead. */
export interface ShownPath {
  readonly path: string;
  readonly shown: string;
}

/** What a workspace is made of, according to the run's environment. */
export interface WorkspacePlan {
  readonly repositories: readonly PlannedRepository[];
  /** A shell in the sandbox runs them one after another, in the working directory. */
  readonly setupCommands: readonly string[];
  /** The container image for setup commands and agent. */
  readonly image?: string;
}

export interface PlannedRepository extends RepositoryName {
  /** A branch, tag or commit. Undefined: the newest commit of the default branch. */
  readonly ref?: string;
  /** The author of the commit is no member of the team: the files by which agents are configured are not checked out. */
  readonly isUntrusted?: true;
}

/**
 * The progress of one step of the preparation. A later update with the same id replaces the earlier one, except that
 * `output` is appended.
 */
export interface WorkspaceStep {
  readonly kind: "workspace.step";
  readonly stepId: string;
  readonly title: string;
  readonly status: "running" | "completed" | "failed";
  readonly output?: string;
}

export interface Preparation extends TeamAccess {
  readonly runId: RunId;
  readonly stored?: StoredFiles | undefined;
  /** Another worker has worked on the run since this one: a copy of the files that is still here is not the newest. */
  readonly isNewerElsewhere?: boolean;
  /** Used for a run without a checkpoint. */
  readonly initialContents: () => Promise<InitialContents>;
  readonly plan: WorkspacePlan;
  readonly gateway: Gateway;
  /** The run's secrets, as environment variables of its setup commands. */
  readonly variables: Readonly<Record<string, string>>;
  readonly report: (step: WorkspaceStep) => void;
  /** The setup commands are run even if there is a prepared environment. */
  readonly isFresh?: boolean;
  /** Aborted when the workspace is no longer needed. */
  readonly signal: AbortSignal;
}

/** The files of a run, as every worker can reach them. */
export interface StoredFiles {
  readonly checkpoint: string;
  /** What changed after the checkpoint, within a turn. Undefined: nothing is known. */
  readonly delta?: string | undefined;
  /** The work of the checkpoint alone. It is stored longer, and equals `checkpoint` once only the work is left. */
  readonly work?: string | undefined;
}

/** The files of a run, as they were stored within a turn. */
export interface StoredWithinTurn extends StoredFiles {
  readonly leftOut: readonly LeftOutFile[];
  /** Equal as long as nothing changes. */
  readonly fingerprint?: string | undefined;
}

/** What the first workspace of a run contains. */
export interface InitialContents {
  /** The files of another run, with which this run continues. */
  readonly stored?: StoredFiles;
  /** Paths are relative to the workspace's `directory`, beside the repositories and never inside one. */
  readonly files: readonly { readonly path: string; readonly bytes: Uint8Array }[];
  /** The files of the run's skills. Each has a directory of its own. */
  readonly skills?: readonly SkillFiles[];
}

export interface Collected {
  readonly files: readonly CollectedFile[];
  /** Files that were not collected, each with the reason for people. */
  readonly leftOut: readonly LeftOutFile[];
}

export interface LeftOutFile {
  readonly path: string;
  readonly reason: string;
}

export interface CollectedFile extends StoredFile {
  /** Relative to `artifacts/`, without characters that a path should not contain. */
  readonly path: string;
}

/** Provides the files of runs, across attempts and workers. */
export interface WorkspaceProvider {
  /**
   * Returns the run's workspace, ready to work in: this worker's own copy if it has the newest checkpoint, otherwise
   * the restored checkpoint, otherwise a new workspace with repositories, setup commands and `initialContents`. Fails
   * with `environment_setup_failed`; the message ends with the last output of a failed command.
   */
  prepare(preparation: Preparation): Promise<PreparedWorkspace>;
  /**
   * Adds files of a follow-up to the workspace, in which the agent may be working. A file that is there already stays as
   * it is.
   */
  addFiles(runId: RunId, files: InitialContents["files"]): Promise<void>;
  /**
   * Stores the workspace where every worker can reach it, and returns the id of the checkpoint. If it throws, the
   * files stay. A file that cannot be stored, such as one that cannot be read, is left out of a checkpoint that is
   * stored. Its path is relative to the directory that contains `workspace` and `home`.
   */
  checkpoint(runId: RunId, onLeftOut?: (file: LeftOutFile) => void): Promise<string>;
  /**
   * Stores the work alone, as another checkpoint of the same files, and returns its id: the commits that the host of a
   * repository does not have, the changes, and the new files that git does not ignore. Fails if git cannot read a
   * repository.
   */
  checkpointWork(runWorkspace: RunWorkspace): Promise<string>;
  /**
   * Stores, while the agent works, what changed since the checkpoint in `before`; a checkpoint first if that is not
   * possible. Undefined: nothing changed since `before` was stored.
   */
  storeWithinTurn(
    runId: RunId,
    before: Omit<StoredWithinTurn, "leftOut"> | undefined,
    signal: AbortSignal,
  ): Promise<StoredWithinTurn | undefined>;
  /** The space that the run's files take on this worker's disk, in bytes. */
  size(runId: RunId): Promise<number>;
  /** The paths of the run on this worker's disk, which mean nothing to readers. */
  shownPaths(runId: RunId): readonly ShownPath[];
  /** Stores the files that the agent left in `artifacts/`, except those whose path and hash are in `known`. */
  collect(runId: RunId, known: ReadonlyMap<string, string>): Promise<Collected>;
  /** Deletes a checkpoint or a delta that no run names. */
  removeCheckpoint(blobId: string): Promise<void>;
}
