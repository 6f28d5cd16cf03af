import type { StoredFile } from "../artifacts/artifact.ts";
import type { RunId } from "../ids.ts";
import type { SkillFile } from "../skills/skill.ts";

/** The files of a run on this worker's disk. Nothing in it is needed once its checkpoint is stored. */
export interface Workspace {
  /** The agent's working directory. */
  readonly directory: string;
  /** The agent's own HOME, kept with the workspace so that its session can be taken up again. */
  readonly home: string;
}

/** What the first workspace of a run is made of. */
export interface Beginning {
  /** Of another run, with whose files this one goes on. */
  readonly checkpoint?: string;
  /** By their paths below the agent's working directory. */
  readonly files: readonly { readonly path: string; readonly bytes: Uint8Array }[];
  /** Its `directory` is below the agent's working directory. */
  readonly skill?: { readonly directory: string; readonly files: readonly SkillFile[] };
}

export interface Collected {
  readonly files: readonly CollectedFile[];
  /** What is there and was not taken, with the reason for people. */
  readonly leftOut: readonly { readonly path: string; readonly reason: string }[];
}

export interface CollectedFile extends StoredFile {
  /** Below `artifacts/`, cleaned of what a path should not hold. */
  readonly path: string;
}

export interface WorkspaceKeeper {
  /**
   * The run's workspace, ready to work in: this worker's own copy where it holds the newest checkpoint, else
   * the checkpoint restored, else a new one that holds `beginning`. Fails with `environment_setup_failed`.
   */
  prepare(
    runId: RunId,
    checkpoint: string | undefined,
    beginning?: () => Promise<Beginning>,
  ): Promise<Workspace>;
  /** Stores the workspace where every worker can reach it; the new checkpoint's id. If it throws, the files stay. */
  checkpoint(runId: RunId): Promise<string>;
  /** Stores what the agent left in `artifacts/`, but for files whose content is `known` by path and hash. */
  collect(runId: RunId, known: ReadonlyMap<string, string>): Promise<Collected>;
  /** Drops a checkpoint that no run names any more. */
  forget(checkpoint: string): Promise<void>;
}
