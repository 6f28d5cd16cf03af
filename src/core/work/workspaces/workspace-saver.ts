import { cleaned } from "../../basics/clean-text.ts";
import type { Clock } from "../../basics/clock.ts";
import { defined } from "../../basics/defined.ts";
import { AppError } from "../../basics/errors.ts";
import type { Log } from "../../basics/log.ts";
import { retry, WHILE_UNAVAILABLE } from "../../basics/retry.ts";
import type { Run } from "../../model/runs/run.ts";
import { needsLease } from "../../model/runs/states.ts";
import type { Artifact, ArtifactBody } from "../../model/workspaces/artifact.ts";
import { mimeTypeOf } from "../../model/workspaces/artifact.ts";
import type { RepositoryChanges } from "../../model/workspaces/repository-changes.ts";
import type { Collected, CollectedFile, LeftOutFile, StoredFiles } from "../../model/workspaces/workspace.ts";
import type { FileStore } from "../../ports/stores/file-store.ts";
import type { RunWorkspace, WorkspaceProvider } from "../../ports/workspace-provider.ts";
import type { RunEdit } from "../../runs/run-edit.ts";
import type { AttemptDeps } from "../lease/attempt-deps.ts";
import type { LeaseWriter, Written } from "../lease/lease-writer.ts";
import { leftOutText, notStoredText, onlyWorkText, postGaps } from "./checkpoint-gaps.ts";
import { storedFilesOf, TurnCheckpoints } from "./turn-checkpoints.ts";

type Saved =
  | {
      readonly checkpoint: string;
      readonly delta?: string | undefined;
      readonly isQuick: boolean;
      /** The first of them. */
      readonly leftOut: readonly LeftOutFile[];
      readonly leftOutCount: number;
    }
  | { readonly problem: string; readonly work?: string | undefined };

/** What is stored after the end of a turn, because users do not wait for it. */
interface Rest {
  readonly runWorkspace: RunWorkspace;
  /** A checkpoint of all files is better than what is stored. */
  readonly isQuick: boolean;
}

/** What is stored together with a decision. Its bytes are already stored. */
interface StoredChanges {
  readonly files: readonly CollectedFile[];
  readonly changes?: readonly RepositoryChanges[];
}

/** How many files the log names that a checkpoint does not contain. */
const LEFT_OUT_MAX = 20;
const NOTHING: Collected = { files: [], leftOut: [] };

/**
 * Stores the workspace and the agent's artifacts in one transaction with the decision about the run, then deletes the
 * previous checkpoint. Users wait for that, so of a large workspace only what changed is stored then, and the whole of it with
 * the end of the attempt. Within a turn it stores the files from time to time.
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
  #rest: Rest | undefined;
  readonly #hurry = new AbortController();
  readonly #restSignal: AbortSignal;
  #hasArtifacts: boolean;

  constructor(deps: AttemptDeps, lease: LeaseWriter) {
    const { clock, log, redact, run, stop, storage, workspaces } = deps;
    this.#restSignal = AbortSignal.any([stop, this.#hurry.signal]);
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

  /** The next attempt of the run waits for the end of this one. */
  hurry(): void {
    this.#hurry.abort();
  }

  /** Stops storing files, except by `saveWith` and `endWith`. */
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
    const saved = touched && (await this.#save(touched));
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
    this.#rest = restOf(saved, touched);
    this.#hasArtifacts = written.run.artifactTypes !== undefined;
    const newest = saved && storedFilesOf(written.run);
    if (newest !== undefined) {
      await this.#withinTurn.replace(newest);
    }
    return written;
  }

  /**
   * Stores with the last write of the attempt what `saveWith` has left for later. The blobs before it are left to be pruned,
   * because a run that continues the conversation may be reading them.
   */
  async endWith<T>(decide: (edit: RunEdit) => T): Promise<Written<T>> {
    await this.stop();
    const { checkpoint, work } = await this.#storeRest();
    return this.#lease.write((edit) => {
      if (checkpoint !== undefined) {
        edit.set({ checkpoint, checkpointDelta: undefined, checkpointAt: edit.now });
      }
      if (work !== undefined) {
        edit.set({ workCheckpoint: work });
      }
      return decide(edit);
    });
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

  /**
   * If the workspace cannot be stored, it stays on this worker, and other workers get the work alone. The run continues, and its
   * log says so.
   */
  async #save(runWorkspace: RunWorkspace): Promise<Saved> {
    try {
      return await retry(this.#clock, WHILE_UNAVAILABLE, async () => {
        const { leftOut, ...stored } = await this.#withinTurn.storeTurn();
        const named = cleaned(leftOut.slice(0, LEFT_OUT_MAX), this.#redact);
        return { ...stored, leftOut: named, leftOutCount: leftOut.length };
      });
    } catch (error) {
      this.#log.error("workspace.not_stored", { runId: this.#run.id, error });
      const known = error instanceof AppError ? `${error.message} ${error.options.remedy ?? ""}` : "";
      const problem = known.trim() || "The files of the workspace could not be read.";
      return { problem, work: await this.#saveWork(runWorkspace) };
    }
  }

  /** Nothing if another attempt waits for the run: it needs neither, and stores both at its own end. */
  async #storeRest(): Promise<Partial<Pick<StoredFiles, "checkpoint" | "work">>> {
    const rest = this.#rest;
    if (rest === undefined || this.#restSignal.aborted) {
      return {};
    }
    const { run } = this.#lease.latest ?? (await this.#lease.getAggregate());
    if (run.state === "QUEUED" || needsLease(run.state)) {
      return {};
    }
    const checkpoint = rest.isQuick ? await this.#saveWhole() : undefined;
    const work = this.#restSignal.aborted ? undefined : await this.#saveWork(rest.runWorkspace);
    return defined({ checkpoint, work });
  }

  /** Without it, a worker that restores the files makes the rest again. */
  async #saveWhole(): Promise<string | undefined> {
    const signal = this.#restSignal;
    try {
      const store = () => this.#workspaces.checkpoint(this.#run.id, undefined, signal);
      return await retry(this.#clock, WHILE_UNAVAILABLE, store);
    } catch (error) {
      if (!signal.aborted) {
        this.#log.warn("workspace.whole_not_stored", { runId: this.#run.id, error });
      }
      return undefined;
    }
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
  if ("problem" in saved) {
    const { problem, work } = saved;
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

function restOf(saved: Saved | undefined, runWorkspace: RunWorkspace | undefined): Rest | undefined {
  return saved === undefined || runWorkspace === undefined || "problem" in saved
    ? undefined
    : { runWorkspace, isQuick: saved.isQuick };
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
