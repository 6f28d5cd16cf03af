import type { RunId } from "../ids.ts";

/** The files of a run on this worker's disk. Nothing in it is needed once its checkpoint is stored. */
export interface Workspace {
  /** The agent's working directory. */
  readonly directory: string;
  /** The agent's own HOME, kept with the workspace so that its session can be taken up again. */
  readonly home: string;
}

export interface WorkspaceKeeper {
  /**
   * The run's workspace, ready to work in: this worker's own copy where it holds the newest checkpoint, else
   * the checkpoint restored, else an empty one. Fails with `environment_setup_failed`.
   */
  prepare(runId: RunId, checkpoint: string | undefined): Promise<Workspace>;
  /** Stores the workspace where every worker can reach it; the new checkpoint's id. If it throws, the files stay. */
  checkpoint(runId: RunId): Promise<string>;
  /** Drops a checkpoint that no run names any more. */
  forget(checkpoint: string): Promise<void>;
}
