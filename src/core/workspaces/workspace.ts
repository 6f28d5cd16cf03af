import type { Gateway } from "../agents/gateway.ts";
import type { StoredFile } from "../artifacts/artifact.ts";
import type { RunId, TeamId } from "../ids.ts";
import type { RepositoryName } from "../repositories/repository-name.ts";
import type { SkillFile } from "../skills/skill.ts";

/** The files of a run on this worker's disk. Nothing in it is needed once its checkpoint is stored. */
export interface Workspace {
  /** All that the run may write to, but for `home`: each repository in a folder of its name, `artifacts/`, given files. */
  readonly directory: string;
  /** Where the agent is started: its repository where there is one alone, else `directory`. */
  readonly workingDirectory: string;
  /** The agent's own HOME, kept with the workspace so that its session can be taken up again. */
  readonly home: string;
}

/** What every process that works in it is told of its places, beside what it stands in. */
export function workspaceVariables({ directory }: Workspace): Readonly<Record<string, string>> {
  return { ERRAND_ARTIFACTS_DIR: `${directory}/artifacts` };
}

/** Of the run's environment, what its workspace is made of. */
export interface WorkspacePlan {
  readonly repositories: readonly PlannedRepository[];
  /** Run one after the other by a shell in the sandbox, in the working directory. */
  readonly setupCommands: readonly string[];
  /** The container image that commands and agent run in. */
  readonly image?: string;
}

export interface PlannedRepository extends RepositoryName {
  /** A branch, tag or commit; undefined: the newest commit of the default branch. */
  readonly ref?: string;
}

/** A step of the preparation, as it goes on; later ones of the same id replace it, `output` is added to. */
export interface WorkspaceStep {
  readonly kind: "workspace.step";
  readonly stepId: string;
  readonly title: string;
  readonly status: "running" | "completed" | "failed";
  readonly output?: string;
}

export interface Preparation {
  readonly runId: RunId;
  readonly teamId: TeamId;
  readonly checkpoint?: string;
  /** Of a run without a checkpoint. */
  readonly initialContents: () => Promise<InitialContents>;
  readonly plan: WorkspacePlan;
  readonly gateway: Gateway;
  /** The run's secrets, as environment variables of its setup commands. */
  readonly variables: Readonly<Record<string, string>>;
  readonly tell: (step: WorkspaceStep) => void;
  /** Nobody wants the workspace any more. */
  readonly signal: AbortSignal;
}

/** What the first workspace of a run is made of. */
export interface InitialContents {
  /** Of another run, with whose files this one goes on. */
  readonly checkpoint?: string;
  /** By their paths below the workspace's `directory`: beside a repository, never in it. */
  readonly files: readonly { readonly path: string; readonly bytes: Uint8Array }[];
  /** Its `directory` is below the workspace's. */
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

/** Where the files of runs are, from attempt to attempt and from worker to worker. */
export interface WorkspaceProvider {
  /**
   * The run's workspace, ready to work in: this worker's own copy where it holds the newest checkpoint, else the
   * checkpoint restored, else a new one: repositories, setup commands, `initialContents`. Fails with
   * `environment_setup_failed`, whose message ends with what a failed command said last.
   */
  prepare(preparation: Preparation): Promise<Workspace>;
  /** Stores the workspace where every worker can reach it; the new checkpoint's id. If it throws, the files stay. */
  checkpoint(runId: RunId): Promise<string>;
  /** Stores what the agent left in `artifacts/`, but for files whose content is `known` by path and hash. */
  collect(runId: RunId, known: ReadonlyMap<string, string>): Promise<Collected>;
  /** Drops a checkpoint that no run names any more. */
  forget(checkpoint: string): Promise<void>;
}
