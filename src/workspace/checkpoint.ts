import { lstat, mkdir, readFile, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { defined } from "../core/basics/defined.ts";
import { AppError } from "../core/basics/errors.ts";
import type { GoneFiles } from "../core/model/workspaces/workspace.ts";
import type { Preparation, RunWorkspace } from "../core/ports/workspace-provider.ts";
import type { Sandbox } from "../sandboxes/sandbox.ts";
import { type BaseManifest, findManifest, isOfBase, listGone, workspaceBase } from "./base-manifest.ts";
import { removeTree } from "./file-trees.ts";
import type { LargeBases } from "./large-bases.ts";
import { mergeTree, removeBelow } from "./merge-tree.ts";
import { NewWorkspace } from "./new-workspace.ts";
import {
  type ArchiveLimits,
  ArchiveTooLarge,
  packDirectory,
  type ReportUnstorable,
} from "./pack-directory.ts";
import { relocate } from "./relocate.ts";
import { type RunDirectory, WRITABLE_FOLDERS } from "./run-directory.ts";
import type { Steps } from "./steps.ts";
import { type Changes, StoredEntries, writeStoredState } from "./stored-state.ts";
import type { TooLargeFiles } from "./too-large-files.ts";
import { unpackArchive } from "./unpack-archive.ts";
import { applyWork, findWork, listOmitted, packWork, type Work } from "./work-checkpoint.ts";
import type { WorkspaceDeps } from "./workspace-deps.ts";
import { RECORD, readRecord, type WorkspaceRecord, writeRecord } from "./workspace-record.ts";

/** A file in an archive without base: how to create the base again. */
const LEAN = "lean.json";
const lean = z.object({
  base: workspaceBase,
  gone: z.array(z.string()),
  /** The whole run directory might have been small enough. */
  isQuick: z.boolean().optional(),
});
type Lean = z.infer<typeof lean>;
/** A file in an archive with what changed since a checkpoint: what no longer exists. */
const DELTA = "delta.json";
const delta = z.object({ gone: z.array(z.string()) });
type Delta = z.infer<typeof delta>;

/** Source code compresses to about a quarter. What compresses much better is not source code. */
const MAX_COMPRESSION = 32;
const INCOMING = "incoming";

export interface CheckpointOptions {
  readonly maxBytes: number;
  readonly report: ReportUnstorable;
  /** What was too large in this process. */
  readonly largeBases: LargeBases;
  readonly tooLarge: TooLargeFiles;
  /** Leaves out what can be made again also if the whole would be small enough, because that takes less time. */
  readonly isQuick?: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface PackedCheckpoint {
  readonly bytes: Uint8Array;
  /** What the run directory contained. */
  readonly entries: StoredEntries;
}

/** Packs the whole run directory, or, if that is too large, only what changed since its setup. */
export async function packCheckpoint(runPath: string, options: CheckpointOptions): Promise<PackedCheckpoint> {
  // A workspace from before records gets one.
  await writeRecord(runPath, await readRecord(runPath));
  const manifest = await findManifest(runPath);
  try {
    if (manifest === undefined) {
      return await packWhole(runPath, options);
    }
    const { largeBases } = options;
    // A workspace that was too large once will be too large again.
    const wasTooLarge = largeBases.has(manifest.base) || (await isThere(join(runPath, LEAN)));
    if (wasTooLarge) {
      return await packLean(runPath, manifest, { ...options, isQuick: false });
    }
    if (options.isQuick === true) {
      return await packLean(runPath, manifest, options).finally(() => rm(join(runPath, LEAN)));
    }
    return await packWhole(runPath, options).catch((error) => {
      if (error instanceof ArchiveTooLarge) {
        largeBases.add(manifest.base);
        return packLean(runPath, manifest, options);
      }
      throw error;
    });
  } catch (error) {
    throw error instanceof ArchiveTooLarge ? tooLarge(options.maxBytes, error) : error;
  }
}

async function packWhole(runPath: string, options: CheckpointOptions): Promise<PackedCheckpoint> {
  const entries = new StoredEntries();
  const { report, signal, tooLarge } = options;
  const members = [...WRITABLE_FOLDERS, RECORD];
  const bytes = await packDirectory(runPath, members, limitsOf(options), {
    report,
    signal,
    tooLarge,
    onEntry: entries.add,
  });
  return { bytes, entries };
}

async function packLean(
  runPath: string,
  manifest: BaseManifest,
  options: CheckpointOptions,
): Promise<PackedCheckpoint> {
  const gone = await listGone(runPath, Object.keys(manifest.entries));
  const about: Lean = { base: manifest.base, gone: [...gone], isQuick: options.isQuick === true };
  await writeFile(join(runPath, LEAN), JSON.stringify(about), { mode: 0o600 });
  const entries = new StoredEntries();
  const { report, signal, tooLarge } = options;
  const bytes = await packDirectory(runPath, [...WRITABLE_FOLDERS, RECORD, LEAN], limitsOf(options), {
    report,
    signal,
    tooLarge,
    onEntry: entries.add,
    isLeftOut: (path, stat) => isOfBase(manifest, path, stat),
  });
  return { bytes, entries };
}

/** Packs what changed since a checkpoint. Undefined: that is too large. */
export async function packDelta(
  runPath: string,
  { changed, gone }: Pick<Changes, "changed" | "gone">,
  options: CheckpointOptions,
): Promise<Uint8Array | undefined> {
  const about: Delta = { gone: [...gone] };
  await writeFile(join(runPath, DELTA), JSON.stringify(about), { mode: 0o600 });
  const wanted = withDirectories([...changed, ...WRITABLE_FOLDERS, RECORD, DELTA]);
  const { report, signal, tooLarge } = options;
  try {
    return await packDirectory(runPath, [...WRITABLE_FOLDERS, RECORD, DELTA], limitsOf(options), {
      report,
      signal,
      tooLarge,
      isWanted: (path) => wanted.has(path),
    });
  } catch (error) {
    if (error instanceof ArchiveTooLarge) {
      return undefined;
    }
    throw error;
  }
}

/** Packs the work alone, which is smaller and needs the repositories and the setup to be restored. */
export async function packWorkCheckpoint(
  runPath: string,
  runWorkspace: RunWorkspace,
  sandbox: Sandbox,
  options: Pick<CheckpointOptions, "maxBytes" | "tooLarge">,
): Promise<Uint8Array> {
  try {
    return await packWork(runPath, runWorkspace, sandbox, {
      ...limitsOf(options),
      tooLarge: options.tooLarge,
    });
  } catch (error) {
    throw error instanceof ArchiveTooLarge ? tooLarge(options.maxBytes, error) : error;
  }
}

function withDirectories(paths: readonly string[]): ReadonlySet<string> {
  const all = new Set<string>();
  for (const path of paths) {
    for (let place = path; place !== "." && !all.has(place); place = dirname(place)) {
      all.add(place);
    }
  }
  return all;
}

function limitsOf({ maxBytes }: Pick<CheckpointOptions, "maxBytes">): ArchiveLimits {
  return { maxBytes, maxUnpackedBytes: maxBytes * MAX_COMPRESSION };
}

export interface Restoration {
  readonly deps: WorkspaceDeps;
  readonly preparation: Preparation;
  readonly run: RunDirectory;
  readonly steps: Steps;
}

/** A checkpoint as it is stored, with what changed after it. */
export interface StoredArchives {
  readonly checkpoint: string;
  readonly archive: Uint8Array;
  readonly delta?: Uint8Array;
}

export interface Restored {
  readonly record: WorkspaceRecord;
  /** Only the work was stored. */
  readonly gone?: GoneFiles;
}

/** Fills the empty run directory. Files that contain the path of their original directory are rewritten. */
export async function restoreCheckpoint(
  { archive, checkpoint, delta }: StoredArchives,
  restoration: Restoration,
): Promise<Restored> {
  const { path } = restoration.run;
  return restoration.steps.during("Restore the files", async () => {
    const restored = await restoreArchive(archive, restoration);
    await writeStoredState(path, checkpoint);
    return delta === undefined ? restored : { ...restored, ...(await restoreArchive(delta, restoration)) };
  });
}

async function restoreArchive(archive: Uint8Array, restoration: Restoration): Promise<Restored> {
  const { path } = restoration.run;
  const incoming = join(path, INCOMING);
  await mkdir(incoming, { mode: 0o700 });
  await unpackArchive(archive, incoming);
  const record = await readRecord(incoming);
  const place = restoration.run.placeFor(restoration.deps.sandbox);
  await relocate(incoming, record.place, place);
  const restored = { record: { ...record, place } };
  const gone = await putInto(incoming, record, restoration);
  await removeTree(incoming);
  return gone === undefined ? restored : { ...restored, gone };
}

/** Puts the unpacked archive into the run directory. */
async function putInto(
  incoming: string,
  record: WorkspaceRecord,
  restoration: Restoration,
): Promise<GoneFiles | undefined> {
  const { path } = restoration.run;
  const changes = await findDelta(incoming);
  if (changes !== undefined) {
    await mergeOver(changes.gone, incoming, path);
    return undefined;
  }
  const work = await findWork(incoming);
  if (work !== undefined) {
    return rebuild(work, incoming, record, restoration);
  }
  const base = await findLean(incoming);
  await (base === undefined ? moveInto(path, incoming) : mergeInto(base, incoming, restoration));
  return undefined;
}

async function moveInto(path: string, incoming: string): Promise<void> {
  for (const folder of WRITABLE_FOLDERS) {
    await rmdir(join(path, folder));
    await rename(join(incoming, folder), join(path, folder));
  }
}

/** Creates the base again and puts the changes over it. */
async function mergeInto(
  { base, gone, isQuick }: Lean,
  incoming: string,
  restoration: Restoration,
): Promise<void> {
  const { path } = restoration.run;
  const { image, repositories, setupCommands } = base;
  const plan = defined({ repositories: [], setupCommands, image });
  const preparation = { ...restoration.preparation, plan };
  await new NewWorkspace({ ...restoration, preparation, initialContents: { files: [] }, repositories }).make(
    undefined,
  );
  await mergeOver(gone, incoming, path);
  if (isQuick === true) {
    return;
  }
  // The next checkpoint will be too large as well.
  await rename(join(incoming, LEAN), join(path, LEAN));
}

/**
 * Clones the same commits again, repeats the setup of the environment as it is today, and brings the work into the clones.
 * The skills of the home are not part of the work.
 */
async function rebuild(
  work: Work,
  incoming: string,
  record: WorkspaceRecord,
  restoration: Restoration,
): Promise<GoneFiles> {
  const { deps, preparation, run } = restoration;
  const { skills = [] } = await preparation.initialContents();
  const initialContents = { files: [], skills: skills.filter(({ root }) => root === "home") };
  const plan = { ...preparation.plan, repositories: [] };
  const { repositories } = record;
  await new NewWorkspace({
    ...restoration,
    preparation: { ...preparation, plan },
    initialContents,
    repositories,
  }).make(undefined);
  const { gateway, runId } = preparation;
  const { image } = plan;
  const workspace = await run.workspaceOf(record, deps.sandbox);
  const runWorkspace = defined({ runId, workspace, gateway, image });
  await applyWork(work, incoming, run.path, runWorkspace, deps.sandbox);
  await relocate(run.path, record.place, run.placeFor(deps.sandbox));
  await mergeTree(join(incoming, "workspace"), run.directory);
  return { restored: "work", paths: await listOmitted(run.directory, work) };
}

async function mergeOver(gone: readonly string[], incoming: string, path: string): Promise<void> {
  for (const each of gone) {
    await removeBelow(path, each);
  }
  for (const folder of WRITABLE_FOLDERS) {
    await mergeTree(join(incoming, folder), join(path, folder));
  }
}

async function findLean(directory: string): Promise<Lean | undefined> {
  const file = join(directory, LEAN);
  return (await isThere(file)) ? lean.parse(JSON.parse(await readFile(file, "utf8"))) : undefined;
}

async function findDelta(directory: string): Promise<Delta | undefined> {
  const file = join(directory, DELTA);
  return (await isThere(file)) ? delta.parse(JSON.parse(await readFile(file, "utf8"))) : undefined;
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}

/**
 * The files stay here and the previous checkpoint stays valid. The caller records the problem and continues the run.
 */
function tooLarge(maxBytes: number, cause: unknown): AppError {
  const limit = `${Math.floor(maxBytes / 1024 / 1024)} MiB`;
  return new AppError(
    "operation_not_supported",
    `The workspace is larger than can be stored (${limit} compressed).`,
    {
      cause,
      remedy:
        "Remove files that can be made again, such as build results and package caches, in the next turn.",
    },
  );
}
