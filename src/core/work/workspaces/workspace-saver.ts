import { cleaned } from "../../basics/clean-text.ts";
import type { Clock } from "../../basics/clock.ts";
import { defined } from "../../basics/defined.ts";
import { AppError } from "../../basics/errors.ts";
import type { Log } from "../../basics/log.ts";
import { retry, WHILE_UNAVAILABLE } from "../../basics/retry.ts";
import type { Run } from "../../model/runs/run.ts";
import type { Artifact, ArtifactBody } from "../../model/workspaces/artifact.ts";
import { mimeTypeOf } from "../../model/workspaces/artifact.ts";
import type { RepositoryChanges } from "../../model/workspaces/repository-changes.ts";
import type {
  Collected,
  CollectedFile,
  LeftOutFile,
  StoredFiles,
  StoredWithinTurn,
} from "../../model/workspaces/workspace.ts";
import type { FileStore } from "../../ports/stores/file-store.ts";
import type { RunWorkspace, WorkspaceProvider } from "../../ports/workspace-provider.ts";
import type { RunEdit } from "../../runs/run-edit.ts";
import type { AttemptDeps } from "../lease/attempt-deps.ts";
import type { LeaseWriter, Written } from "../lease/lease-writer.ts";
import { leftOutText, notStoredText, onlyWorkText, postGaps } from "./checkpoint-gaps.ts";
import { storedFilesOf, TurnCheckpoints } from "./turn-checkpoints.ts";

type Whole =
  | {
      readonly checkpoint: string;
      readonly delta?: string | undefined;
      /** The first of them. */
      readonly leftOut: readonly LeftOutFile[];
      readonly leftOutCount: number;
    }
  | { readonly problem: string };
type Saved = Whole & { readonly work?: string };

/** What is stored together with a decision. Its bytes are already stored. */
interface StoredChanges {
  readonly files: readonly CollectedFile[];
  readonly changes?: readonly RepositoryChanges[];
  /** Another attempt continues the open turn. */
  readonly isHandedBack?: boolean;
}

/** How many files the log names that a checkpoint does not contain. */
const LEFT_OUT_MAX = 20;
const NOTHING: Collected = { files: [], leftOut: [] };

/**
 * Stores the workspace and the agent's artifacts in one transaction with the decision about the run, then deletes the
 * previous checkpoint. Within a turn it stores the files from time to time.
 */
export class WorkspaceSaver {
  readonly #workspaces: WorkspaceProvider;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #lease: LeaseWriter;
  readonly #run: Run;
  readonly #files: FileStore;
  readonly #redact: (text: string) => string;
  readonly #withinTurn: TurnCheckpoints;
  /** What was posted in the threads of the run about files that are not stored. */
  #announcedGaps: string | undefined;
  /** Where files may have changed since they were last stored. */
  #touched: RunWorkspace | undefined;
  #hasArtifacts: boolean;

  constructor(deps: AttemptDeps, lease: LeaseWriter) {
    const { clock, log, redact, run, storage, workspaces } = deps;
    this.#log = log;
    this.#redact = redact;
    this.#files = storage.files;
    this.#hasArtifacts = run.artifactTypes !== undefined;
    this.#workspaces = workspaces;
    this.#clock = clock;
    this.#lease = lease;
    this.#run = run;
    this.#withinTurn = new TurnCheckpoints(deps, lease);
    this.#announcedGaps = run.checkpointGaps;
  }

  /** Files may change from now on. */
  touch(runWorkspace: RunWorkspace): void {
    this.#touched = runWorkspace;
    this.#withinTurn.start();
  }

  /** Stops storing files, except by `saveWith`. */
  stop(): Promise<void> {
    return this.#withinTurn.stop();
  }

  /** Whether files may have changed since they were last stored. */
  get isTouched(): boolean {
    return this.#touched !== undefined;
  }

  /**
   * Stores the checkpoint first. The run names it in the same transaction as the decision, together with the changes,
   * whose files are already stored.
   */
  async saveWith<T>(
    decide: (edit: RunEdit) => T,
    stored: StoredChanges = { files: [] },
  ): Promise<Written<T>> {
    await this.stop();
    const known = await this.#knownArtifacts();
    const touched = this.#touched;
    const collected = touched === undefined ? NOTHING : await this.#collect(known);
    const saved = touched && (await this.#save(touched, stored.isHandedBack === true));
    const files = [...collected.files, ...newOf(stored.files, known)];
    const written = await this.#lease.write((edit) => {
      decideArtifacts(edit, { ...collected, files }, known);
      if (stored.changes !== undefined) {
        edit.setChanges(stored.changes);
      }
      if (saved !== undefined) {
        const gaps = recordSaved(edit, saved);
        if (gaps !== undefined && gaps !== this.#announcedGaps) {
          postGaps(edit, gaps);
        }
        edit.set({ checkpointGaps: gaps });
      }
      return decide(edit);
    });
    this.#announcedGaps = written.run.checkpointGaps;
    this.#touched = undefined;
    this.#hasArtifacts = written.run.artifactTypes !== undefined;
    const newest = saved && storedFilesOf(written.run);
    if (newest !== undefined) {
      await this.#withinTurn.replace(newest);
    }
    return written;
  }

  async #knownArtifacts(): Promise<readonly Artifact[]> {
    if (!this.isTouched || !this.#hasArtifacts) {
      return [];
    }
    return retry(this.#clock, WHILE_UNAVAILABLE, () => this.#files.artifactsOf([this.#run.id]));
  }

  /** Files that cannot be collected stay in the workspace until the end of the next turn. */
  async #collect(known: readonly Artifact[]): Promise<Collected> {
    try {
      const collect = () => this.#workspaces.collect(this.#run.id, hashesByPath(known));
      return cleaned(await retry(this.#clock, WHILE_UNAVAILABLE, collect), this.#redact);
    } catch (error) {
      this.#log.error("artifacts.not_collected", { runId: this.#run.id, error });
      return NOTHING;
    }
  }

  /** The work alone is for the time after the run, or for another worker if it is all that can be stored. */
  async #save(runWorkspace: RunWorkspace, isHandedBack: boolean): Promise<Saved> {
    const whole = await this.#saveWhole(isHandedBack);
    const work = isHandedBack && "checkpoint" in whole ? undefined : await this.#saveWork(runWorkspace);
    return work === undefined ? whole : { ...whole, work };
  }

  /** If the workspace cannot be stored, it stays on this worker. The run continues, and its log says so. */
  async #saveWhole(isHandedBack: boolean): Promise<Whole> {
    try {
      return await retry(this.#clock, WHILE_UNAVAILABLE, async () => {
        const { leftOut, ...names } = await (isHandedBack ? this.#storeForNext() : this.#store());
        const named = cleaned(leftOut.slice(0, LEFT_OUT_MAX), this.#redact);
        return { ...names, leftOut: named, leftOutCount: leftOut.length };
      });
    } catch (error) {
      this.#log.error("workspace.not_stored", { runId: this.#run.id, error });
      const known = error instanceof AppError ? `${error.message} ${error.options.remedy ?? ""}` : "";
      return { problem: known.trim() || "The files of the workspace could not be read." };
    }
  }

  async #store(): Promise<StoredWithinTurn> {
    const leftOut: LeftOutFile[] = [];
    const checkpoint = await this.#workspaces.checkpoint(this.#run.id, (file) => leftOut.push(file));
    return { checkpoint, leftOut };
  }

  async #storeForNext(): Promise<StoredWithinTurn> {
    return (await this.#withinTurn.storeForNext()) ?? this.#store();
  }

  /** Without it, the checkpoint is kept as long as the run. */
  async #saveWork(runWorkspace: RunWorkspace): Promise<string | undefined> {
    try {
      const save = () => this.#workspaces.checkpointWork(runWorkspace);
      return await retry(this.#clock, WHILE_UNAVAILABLE, save);
    } catch (error) {
      this.#log.warn("workspace.work_not_stored", { runId: this.#run.id, error });
      return undefined;
    }
  }
}

/** The same content again is not a new version. */
function newOf(files: readonly CollectedFile[], known: readonly Artifact[]): readonly CollectedFile[] {
  const hashes = hashesByPath(known);
  return files.filter(({ hash, path }) => hashes.get(path) !== hash);
}

/** Returns what is not stored, for people. */
function recordSaved(edit: RunEdit, saved: Saved): string | undefined {
  const { work } = saved;
  if ("problem" in saved) {
    const { problem } = saved;
    edit.record({ kind: "workspace.not_stored", reason: problem });
    if (work === undefined) {
      return notStoredText(edit.run.turn, problem);
    }
    setCheckpoint(edit, { checkpoint: work, work });
    return onlyWorkText(edit.run.turn, problem);
  }
  const { checkpoint, leftOut, leftOutCount } = saved;
  setCheckpoint(edit, saved);
  edit.record(
    defined({ kind: "workspace.stored", checkpoint, leftOut: leftOut.length === 0 ? undefined : leftOut }),
  );
  return leftOut.length === 0 ? undefined : leftOutText(leftOut, leftOutCount);
}

function setCheckpoint(edit: RunEdit, { checkpoint, delta, work }: StoredFiles): void {
  const checkpointAt = edit.now;
  edit.set({ checkpoint, checkpointDelta: delta, workCheckpoint: work, checkpointAt });
}

/** The log names only this many files that were left out. */
const LEFT_OUT_NAMED_MAX = 20;

/** Adds the collected files to the run. A file at the path of a `known` artifact becomes its next version. */
function decideArtifacts(edit: RunEdit, { files, leftOut }: Collected, known: readonly Artifact[]): void {
  const earlier = new Map(known.filter(isFile).map((artifact) => [artifact.key, artifact]));
  for (const { path, ...file } of files) {
    edit.addArtifact({ key: path, body: fileAt(path), file }, earlier.get(path));
  }
  if (leftOut.length === 0) {
    return;
  }
  edit.record({ kind: "artifact.left_out", files: leftOut.slice(0, LEFT_OUT_NAMED_MAX) });
}

/** The hashes of the known files, by path. */
function hashesByPath(known: readonly Artifact[]): ReadonlyMap<string, string> {
  return new Map(known.filter(isFile).map(({ key, file }) => [key, file?.hash ?? ""]));
}

function isFile({ body }: Artifact): boolean {
  return body.type === "FILE";
}

function fileAt(filePath: string): ArtifactBody {
  const fileName = filePath.slice(filePath.lastIndexOf("/") + 1);
  return { type: "FILE", filePath, fileName, mimeType: mimeTypeOf(fileName) };
}
