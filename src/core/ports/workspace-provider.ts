import type { RunId } from "../basics/ids.ts";
import type { TeamAccess } from "../model/repositories/repository-name.ts";
import type { SkillFiles } from "../model/skills/skill.ts";
import type {
  Collected,
  LeftOutFile,
  PreparedWorkspace,
  ShownPath,
  StoredFiles,
  StoredTurn,
  StoredWithinTurn,
  Workspace,
  WorkspacePlan,
  WorkspaceStep,
} from "../model/workspaces/workspace.ts";
import type { Gateway } from "./gateway.ts";

/**
 * The workspace in which a run works. Git runs in its sandbox, because the agent can manipulate the repositories there.
 */
export interface RunWorkspace {
  readonly runId: RunId;
  readonly workspace: Workspace;
  readonly gateway: Gateway;
  readonly image?: string;
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
  /** A new workspace whose setup command fails is returned with `setupError`, until `endFailedSetup`. */
  readonly keepsFailedSetup?: boolean;
  /** Aborted when the workspace is no longer needed. */
  readonly signal: AbortSignal;
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

/** Provides the files of runs, across attempts and workers. */
export interface WorkspaceProvider {
  /**
   * Returns the run's workspace, ready to work in: this worker's own copy if it has the newest checkpoint, otherwise
   * the restored checkpoint, otherwise a new workspace with repositories, setup commands and `initialContents`. Fails
   * with `environment_setup_failed`; the message ends with the last output of a failed command.
   */
  prepare(preparation: Preparation): Promise<PreparedWorkspace>;
  /** A workspace with a `setupError` becomes the run's as it is, or is removed. */
  endFailedSetup(runId: RunId, isUsed: boolean): Promise<void>;
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
  checkpoint(runId: RunId, onLeftOut?: (file: LeftOutFile) => void, signal?: AbortSignal): Promise<string>;
  /**
   * Stores the work alone, as another checkpoint of the same files, and returns its id: the commits that the host of a
   * repository does not have, the changes, and the new files that git does not ignore. Fails if git cannot read a
   * repository.
   */
  checkpointWork(runWorkspace: RunWorkspace): Promise<string>;
  /**
   * Stores the workspace like `checkpoint`, but quickly: of a large one only what changed since the checkpoint in `before`, or
   * what cannot be made again.
   */
  storeTurn(runId: RunId, before: StoredFiles | undefined, signal: AbortSignal): Promise<StoredTurn>;
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
