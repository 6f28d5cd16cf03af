import { lstat, mkdir, readFile, rename, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { AppError } from "../core/errors.ts";
import type { Preparation } from "../core/workspaces/workspace.ts";
import { type BaseManifest, findManifest, isOfBase, listGone, workspaceBase } from "./base-manifest.ts";
import { mergeTree, removeBelow } from "./merge-tree.ts";
import { NewWorkspace } from "./new-workspace.ts";
import { ArchiveTooLarge, packDirectory, type ReportUnstorable } from "./pack-directory.ts";
import { relocate } from "./relocate.ts";
import { removeTree } from "./remove-tree.ts";
import type { RunDirectory } from "./run-directory.ts";
import { WRITABLE_FOLDERS } from "./run-directory.ts";
import type { Steps } from "./steps.ts";
import { unpackArchive } from "./unpack-archive.ts";
import type { WorkspaceDeps } from "./workspace-deps.ts";
import { RECORD, readRecord, type WorkspaceRecord, writeRecord } from "./workspace-record.ts";

/** A file in an archive without base: how to create the base again. */
const LEAN = "lean.json";
const lean = z.object({ base: workspaceBase, gone: z.array(z.string()) });
type Lean = z.infer<typeof lean>;

/** Source code compresses to about a quarter. What compresses much better is not source code. */
const MAX_COMPRESSION = 32;
const INCOMING = "incoming";

/** Packs the whole run directory, or, if that is too large, only what changed since its setup. */
export async function packCheckpoint(
  runPath: string,
  maxBytes: number,
  report: ReportUnstorable,
): Promise<Uint8Array> {
  const limits = { maxBytes, maxUnpackedBytes: maxBytes * MAX_COMPRESSION };
  // A workspace from before records gets one.
  await writeRecord(runPath, await readRecord(runPath));
  const manifest = await findManifest(runPath);
  try {
    // A workspace that was too large once will be too large again.
    if (manifest !== undefined && (await isThere(join(runPath, LEAN)))) {
      return await packLean(runPath, manifest, limits, report);
    }
    const members = [...WRITABLE_FOLDERS, RECORD];
    return await packDirectory(runPath, members, limits, undefined, report).catch((error) => {
      if (manifest === undefined || !(error instanceof ArchiveTooLarge)) {
        throw error;
      }
      return packLean(runPath, manifest, limits, report);
    });
  } catch (error) {
    throw error instanceof ArchiveTooLarge ? tooLarge(maxBytes, error) : error;
  }
}

async function packLean(
  runPath: string,
  manifest: BaseManifest,
  limits: Parameters<typeof packDirectory>[2],
  report: ReportUnstorable,
): Promise<Uint8Array> {
  const about: Lean = { base: manifest.base, gone: [...(await listGone(runPath, manifest))] };
  await writeFile(join(runPath, LEAN), JSON.stringify(about), { mode: 0o600 });
  const isLeftOut = (path: string, stat: Parameters<typeof isOfBase>[2]) => isOfBase(manifest, path, stat);
  return packDirectory(runPath, [...WRITABLE_FOLDERS, RECORD, LEAN], limits, isLeftOut, report);
}

export interface Restoration {
  readonly deps: WorkspaceDeps;
  readonly preparation: Preparation;
  readonly run: RunDirectory;
  readonly steps: Steps;
}

/** Fills the empty run directory. Files that contain the path of their original directory are rewritten. */
export async function restoreCheckpoint(
  archive: Uint8Array,
  restoration: Restoration,
): Promise<WorkspaceRecord> {
  const { path } = restoration.run;
  return restoration.steps.during("Restore the files", async () => {
    const incoming = join(path, INCOMING);
    await mkdir(incoming, { mode: 0o700 });
    await unpackArchive(archive, incoming);
    const record = await readRecord(incoming);
    const place = restoration.run.placeFor(restoration.deps.sandbox);
    await relocate(incoming, record.place, place);
    const about = await findLean(incoming);
    if (about === undefined) {
      await moveInto(path, incoming);
    } else {
      await mergeInto(about, incoming, restoration);
    }
    await removeTree(incoming);
    return { ...record, place };
  });
}

async function moveInto(path: string, incoming: string): Promise<void> {
  for (const folder of WRITABLE_FOLDERS) {
    await rmdir(join(path, folder));
    await rename(join(incoming, folder), join(path, folder));
  }
}

/** Creates the base again and puts the changes over it. */
async function mergeInto({ base, gone }: Lean, incoming: string, restoration: Restoration): Promise<void> {
  const { path } = restoration.run;
  const { image, repositories, setupCommands } = base;
  const plan = { repositories: [], setupCommands, ...(image === undefined ? {} : { image }) };
  const preparation = { ...restoration.preparation, plan };
  await new NewWorkspace({ ...restoration, preparation, initialContents: { files: [] }, repositories }).make(
    undefined,
  );
  for (const each of gone) {
    await removeBelow(path, each);
  }
  for (const folder of WRITABLE_FOLDERS) {
    await mergeTree(join(incoming, folder), join(path, folder));
  }
  // The next checkpoint will be too large as well.
  await rename(join(incoming, LEAN), join(path, LEAN));
}

async function findLean(directory: string): Promise<Lean | undefined> {
  if (!(await isThere(join(directory, LEAN)))) {
    return undefined;
  }
  return lean.parse(JSON.parse(await readFile(join(directory, LEAN), "utf8")));
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
