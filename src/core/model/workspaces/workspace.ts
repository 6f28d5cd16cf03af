import type { AppError } from "../../basics/errors.ts";
import type { RepositoryName } from "../repositories/repository-name.ts";
import type { StoredFile } from "./artifact.ts";

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

/** A workspace that is ready to work in. */
export interface PreparedWorkspace extends Workspace {
  /** The files were on this worker already, so they include what no checkpoint contains. */
  readonly isOwnCopy: boolean;
  /** What was stored once and is no longer stored. Undefined: nothing. */
  readonly gone?: GoneFiles | undefined;
  /** The guessed repository that a new workspace lacks, because it could not be read. Undefined: it lacks none. */
  readonly unread?: UnreadRepository | undefined;
  /** What its clones lack, in sentences. */
  readonly lacks?: readonly string[] | undefined;
  /** The setup failed, and `Preparation.keepsFailedSetup` was set: the files are as it left them. */
  readonly setupError?: AppError | undefined;
}

export interface UnreadRepository {
  /** `owner/name` */
  readonly repository: string;
  /** Sentences for people. */
  readonly reason: string;
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
  /** Only these folders of the repositories are checked out. A repository with none of them is checked out completely. */
  readonly sparse?: readonly string[];
}

export interface PlannedRepository extends RepositoryName {
  /** A branch, tag or commit. Undefined: the newest commit of the default branch. */
  readonly ref?: string;
  /** The author of the commit is no member of the team: the files by which agents are configured are not checked out. */
  readonly isUntrusted?: true;
  /** Nobody named it: if it cannot be read, the workspace is prepared without it. */
  readonly isGuessed?: true;
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

/** The files of a run, as they were stored at the end of a turn. */
export interface StoredTurn extends StoredWithinTurn {
  /** They are complete. One checkpoint of all of them is better, takes longer, and is not stored yet. */
  readonly isQuick: boolean;
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
