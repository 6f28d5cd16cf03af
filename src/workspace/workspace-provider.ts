import { defined } from "../core/basics/defined.ts";
import { AppError } from "../core/basics/errors.ts";
import type { RunId } from "../core/basics/ids.ts";
import type {
  GoneFiles,
  LeftOutFile,
  PreparedWorkspace,
  StoredFiles,
  StoredTurn,
  StoredWithinTurn,
} from "../core/model/workspaces/workspace.ts";
import { BlobGone } from "../core/ports/blob-store.ts";
import type { Preparation, RunWorkspace, WorkspaceProvider } from "../core/ports/workspace-provider.ts";
import { collectArtifacts } from "./artifact-collector.ts";
import {
  type CheckpointOptions,
  packCheckpoint,
  packDelta,
  packWorkCheckpoint,
  type Restored,
  restoreCheckpoint,
  type StoredArchives,
} from "./checkpoint.ts";
import { diskSizeOf } from "./disk.ts";
import { removeTree } from "./file-trees.ts";
import { addInputFiles } from "./input-files.ts";
import { LargeBases } from "./large-bases.ts";
import { NewWorkspace } from "./new-workspace.ts";
import { PreparedEnvironments, type PreparedLimits } from "./prepared-environments.ts";
import { relocate } from "./relocate.ts";
import { RunDirectory } from "./run-directory.ts";
import { Steps } from "./steps.ts";
import {
  type Changes,
  findChanges,
  findStoredState,
  isKnownLarge,
  type StoredState,
} from "./stored-state.ts";
import { TooLargeFiles } from "./too-large-files.ts";
import type { WorkspaceDeps } from "./workspace-deps.ts";
import { readRecord, writeRecord } from "./workspace-record.ts";

/**
 * The limit of the compressed checkpoint, which passes through memory in one piece and is usually stored in a
 * database.
 */
const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;

/** A checkpoint and its work, of which the run may not name the newest yet. */
const CHECKPOINTS_KEPT = 3;
/** By the code of the error with which the file system refuses to write. */
const NO_SPACE = new Map([
  ["ENOSPC", "The disk of the worker is full. An operator must make room on it."],
  [
    "EDQUOT",
    "The workspace needs more space than its worker allows. An operator can raise ERRAND_MAX_WORKSPACE_GIB.",
  ],
]);
/** The marker of a run that has no checkpoint yet. */
const NONE = "";

export interface WorkspaceProviderOptions
  extends Omit<WorkspaceDeps, "prepared" | "maxBytes" | "largeBases" | "tooLarge"> {
  readonly maxBytes?: number;
  readonly prepared?: Partial<PreparedLimits>;
}

export function createWorkspaceProvider(options: WorkspaceProviderOptions): WorkspaceProvider {
  const { dataDir, log, maxBytes = DEFAULT_MAX_BYTES } = options;
  const prepared = new PreparedEnvironments(dataDir, log, options.prepared);
  const deps = {
    ...options,
    maxBytes,
    prepared,
    largeBases: new LargeBases(),
    tooLarge: new TooLargeFiles(),
  };
  return {
    prepare: (preparation) => prepare(deps, preparation),
    endFailedSetup(runId, isUsed) {
      const run = new RunDirectory(dataDir, runId);
      return isUsed ? run.writeCheckpoints([NONE]) : removeTree(run.path);
    },
    addFiles: (runId, files) => addInputFiles(new RunDirectory(dataDir, runId).directory, files),
    collect: (runId, known) =>
      collectArtifacts(new RunDirectory(dataDir, runId).directory, options.blobs, known),
    size: (runId) => diskSizeOf(new RunDirectory(dataDir, runId).path),
    shownPaths: (runId) => new RunDirectory(dataDir, runId).shownPaths(),
    async checkpoint(runId, onLeftOut = () => undefined, signal) {
      const { checkpoint, leftOut } = await storeCheckpoint(deps, runId, { signal }).catch(raiseNoSpace);
      leftOut.forEach(onLeftOut);
      return checkpoint;
    },
    checkpointWork: (runWorkspace) => storeWork(deps, runWorkspace),
    storeTurn: (runId, before, signal) => storeTurn(deps, runId, before, signal).catch(raiseNoSpace),
    storeWithinTurn: (runId, before, signal) => storeWithinTurn(deps, runId, before, signal),
    removeCheckpoint: (blobId) => options.blobs.remove(blobId),
  };
}

async function prepare(deps: WorkspaceDeps, preparation: Preparation): Promise<PreparedWorkspace> {
  const run = new RunDirectory(deps.dataDir, preparation.runId, deps.quota);
  try {
    const { isNewerElsewhere = false, stored } = preparation;
    const isOwnCopy = !isNewerElsewhere && continues(await run.findCheckpoints(), stored?.checkpoint);
    const lacks = isOwnCopy ? await continueHere(deps, run) : await build(deps, preparation, run);
    return { ...(await run.workspace(deps.sandbox)), isOwnCopy, ...lacks };
  } catch (error) {
    // The blob store already says whether a retry can help.
    if (error instanceof AppError) {
      throw error;
    }
    const message = "The run's workspace could not be prepared on this worker.";
    const remedy = noSpaceText(error);
    throw new AppError("environment_setup_failed", message, defined({ cause: error, remedy }));
  }
}

/** A worker with another sandbox may have shown the files at other paths. */
async function continueHere({ sandbox }: WorkspaceDeps, run: RunDirectory): Promise<Lacks> {
  const record = await readRecord(run.path);
  const place = run.placeFor(sandbox);
  if (record.place !== place) {
    await relocate(run.path, record.place, place);
    await writeRecord(run.path, { ...record, place });
  }
  return {};
}

type Lacks = Pick<PreparedWorkspace, "gone" | "lacks" | "setupError" | "unread">;

async function build(deps: WorkspaceDeps, preparation: Preparation, run: RunDirectory): Promise<Lacks> {
  const { stored, report } = preparation;
  const steps = new Steps(report);
  const restore = ({ archives, gone }: FoundArchives) =>
    restoreCheckpoint(archives, { deps, preparation, run, steps }).then((restored) => ({
      ...defined({ gone }),
      ...restored,
    }));
  let restored: Restored | undefined;
  if (stored !== undefined) {
    const found = await findArchives(deps, stored);
    await run.build([found.archives.checkpoint], async () => {
      restored = await restore(found);
      return restored.record;
    });
    return { gone: restored?.gone };
  }
  const initialContents = await preparation.initialContents();
  const { stored: before } = initialContents;
  const found = before === undefined ? undefined : await findArchives(deps, before);
  const first = new NewWorkspace({ deps, preparation, initialContents, run, steps });
  const fill = async () => {
    restored = found === undefined ? undefined : await restore(found);
    return first.make(restored?.record);
  };
  await run.build([NONE], fill, () => first.setupError === undefined);
  const { lacks, setupError, unread } = first;
  return { gone: restored?.gone, lacks, unread, ...defined({ setupError }) };
}

interface FoundArchives {
  readonly archives: StoredArchives;
  readonly gone?: GoneFiles;
}

/** A blob that is gone costs only what no other blob contains. */
async function findArchives(
  { blobs }: WorkspaceDeps,
  { checkpoint, delta, work }: StoredFiles,
): Promise<FoundArchives> {
  const find = (id: string) =>
    blobs.get(id).catch((error) => {
      if (error instanceof BlobGone) {
        return undefined;
      }
      throw error;
    });
  const archive = await find(checkpoint);
  if (archive === undefined) {
    const other = work === undefined || work === checkpoint ? undefined : await find(work);
    return { archives: { checkpoint: work ?? checkpoint, archive: other ?? raiseFilesGone() } };
  }
  const changes = delta === undefined ? undefined : await find(delta);
  return defined({
    archives: defined({ checkpoint, archive, delta: changes }),
    gone: delta !== undefined && changes === undefined ? CHANGES_GONE : undefined,
  });
}

const CHANGES_GONE: GoneFiles = { restored: "checkpoint", paths: [] };

function raiseFilesGone(): never {
  throw new AppError("environment_setup_failed", "The stored files of this run are gone.", {
    retryable: false,
    remedy: "Start a new run. The patches of this run are among its files.",
  });
}

/**
 * Whether the local files continue the run's newest checkpoint. They may contain more, which is the work of a lost
 * attempt on this worker and is kept. If they continue another checkpoint, another worker had the run meanwhile.
 */
function continues(held: readonly string[] | undefined, checkpoint: string | undefined): boolean {
  return held?.includes(checkpoint ?? NONE) ?? false;
}

async function storeCheckpoint(
  deps: WorkspaceDeps,
  runId: RunId,
  options: Pick<CheckpointOptions, "isQuick" | "signal"> = {},
): Promise<StoredWithinTurn> {
  const { blobs, dataDir, largeBases, maxBytes, tooLarge } = deps;
  const run = new RunDirectory(dataDir, runId);
  const held = (await run.findCheckpoints()) ?? [];
  const leftOut = new LeftOut();
  const { bytes, entries } = await packCheckpoint(run.path, {
    ...options,
    largeBases,
    maxBytes,
    tooLarge,
    report: leftOut.report,
  });
  const checkpoint = await blobs.put(bytes);
  // The previous checkpoint stays in the marker, because it is the newest until the run's row names the new one.
  await run.writeCheckpoints([...held.slice(-CHECKPOINTS_KEPT), checkpoint]);
  await entries.write(run.path, checkpoint);
  return { checkpoint, leftOut: leftOut.files };
}

/** The marker gets it too: once only the work is left, a copy with more is still here. */
async function storeWork(deps: WorkspaceDeps, runWorkspace: RunWorkspace): Promise<string> {
  const { blobs, dataDir, maxBytes, sandbox, tooLarge } = deps;
  const run = new RunDirectory(dataDir, runWorkspace.runId);
  const bytes = await packWorkCheckpoint(run.path, runWorkspace, sandbox, { maxBytes, tooLarge });
  const checkpoint = await blobs.put(bytes);
  const held = (await run.findCheckpoints()) ?? [];
  await run.writeCheckpoints([...held.slice(-CHECKPOINTS_KEPT), checkpoint]);
  return checkpoint;
}

async function storeWithinTurn(
  deps: WorkspaceDeps,
  runId: RunId,
  before: Omit<StoredWithinTurn, "leftOut"> | undefined,
  signal: AbortSignal,
): Promise<StoredWithinTurn | undefined> {
  const { path } = new RunDirectory(deps.dataDir, runId);
  const state = before === undefined ? undefined : await findStoredState(path);
  const changes = await findChangesSince(before, { path, state, signal });
  const isSame = changes?.fingerprint !== undefined && changes.fingerprint === before?.fingerprint;
  return isSame ? undefined : storeChanges(deps, runId, before, { changes, signal });
}

/** A small workspace is stored as a whole at once, which takes little longer than its changes. */
async function storeTurn(
  deps: WorkspaceDeps,
  runId: RunId,
  before: StoredFiles | undefined,
  signal: AbortSignal,
): Promise<StoredTurn> {
  const { path } = new RunDirectory(deps.dataDir, runId);
  const state = await findStoredState(path);
  if (!(await isKnownLarge(path, state))) {
    return { ...(await storeCheckpoint(deps, runId, { signal })), isQuick: false };
  }
  const changes = await findChangesSince(before, { path, state, signal });
  return { ...(await storeChanges(deps, runId, before, { changes, signal })), isQuick: true };
}

/** Undefined: it is unknown what changed. */
async function findChangesSince(
  before: StoredFiles | undefined,
  run: { readonly path: string; readonly state: StoredState | undefined; readonly signal: AbortSignal },
): Promise<Changes | undefined> {
  const { path, signal, state } = run;
  return state === undefined || state.checkpoint !== before?.checkpoint
    ? undefined
    : findChanges(path, state, signal);
}

/** Stores a checkpoint instead if it is unknown what changed, or if that is too large. */
async function storeChanges(
  deps: WorkspaceDeps,
  runId: RunId,
  before: StoredFiles | undefined,
  { changes, signal }: { readonly changes: Changes | undefined; readonly signal: AbortSignal },
): Promise<StoredWithinTurn> {
  const { path } = new RunDirectory(deps.dataDir, runId);
  const leftOut = new LeftOut();
  const options = { ...deps, report: leftOut.report, signal };
  const bytes = changes === undefined ? undefined : await packDelta(path, changes, options);
  if (before === undefined || bytes === undefined) {
    return storeCheckpoint(deps, runId, { isQuick: true, signal });
  }
  const { checkpoint } = before;
  const delta = await deps.blobs.put(bytes);
  return { checkpoint, delta, fingerprint: changes?.fingerprint, leftOut: leftOut.files };
}

/** The work in the files is not stored, and its user must learn why. */
function raiseNoSpace(error: unknown): never {
  const text = noSpaceText(error);
  throw text === undefined
    ? error
    : new AppError("operation_not_supported", text, { cause: error, retryable: false });
}

function noSpaceText(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? NO_SPACE.get(String(error.code)) : undefined;
}

/** A second, lean archive reports the same files again. */
class LeftOut {
  readonly #reasons = new Map<string, string>();

  readonly report = (path: string, reason: string): void => void this.#reasons.set(path, reason);

  get files(): readonly LeftOutFile[] {
    return Array.from(this.#reasons, ([path, reason]) => ({ path, reason }));
  }
}
