import { join } from "node:path";
import { AppError } from "../core/errors.ts";
import type { RunId } from "../core/ids.ts";
import type { BlobStore } from "../core/ports/blob-store.ts";
import type { Beginning, Workspace, WorkspaceKeeper } from "../core/ports/workspace.ts";
import { collectArtifacts } from "./artifact-collector.ts";
import { ArchiveTooLarge, packDirectory, unpackArchive } from "./checkpoint-archive.ts";
import { writeGivenFiles } from "./given-files.ts";
import { MEMBERS, RunDirectory } from "./run-directory.ts";
import { writeSkillFiles } from "./skill-files.ts";

/** Of the compressed checkpoint: it travels in one piece, through memory and mostly into a database. */
const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;

/** Source code compresses to a quarter; what compresses to less than this is no source code. */
const MAX_COMPRESSION = 32;

/** Stands in the marker for the beginning of a run, before its first checkpoint. */
const NONE = "";

export interface WorkspaceKeeperOptions {
  readonly dataDir: string;
  readonly blobs: BlobStore;
  readonly maxBytes?: number;
}

export function createWorkspaceKeeper(options: WorkspaceKeeperOptions): WorkspaceKeeper {
  return {
    prepare: (runId, checkpoint, beginning = noBeginning) =>
      prepare(options, runId, { checkpoint, beginning }),
    collect: (runId, known) =>
      collectArtifacts(new RunDirectory(options.dataDir, runId).workspace().directory, options.blobs, known),
    checkpoint: (runId) => storeCheckpoint(options, runId),
    forget: (checkpoint) => options.blobs.remove(checkpoint),
  };
}

async function noBeginning(): Promise<Beginning> {
  return { files: [] };
}

interface Wanted {
  readonly checkpoint: string | undefined;
  readonly beginning: () => Promise<Beginning>;
}

async function prepare(
  { dataDir, blobs }: WorkspaceKeeperOptions,
  runId: RunId,
  { checkpoint, beginning }: Wanted,
): Promise<Workspace> {
  const directory = new RunDirectory(dataDir, runId);
  try {
    if (!continues(await directory.findCheckpoints(), checkpoint)) {
      const begun = checkpoint === undefined ? await beginning() : { checkpoint, files: [] };
      await directory.replace([checkpoint ?? NONE], (fresh) => fill(fresh, begun, blobs));
    }
    return directory.workspace();
  } catch (error) {
    // The store of blobs says by itself whether it may work later.
    if (error instanceof AppError) {
      throw error;
    }
    const message = "The run's workspace could not be prepared on this worker.";
    throw new AppError("environment_setup_failed", message, { cause: error });
  }
}

async function fill(fresh: string, { checkpoint, files, skill }: Beginning, blobs: BlobStore): Promise<void> {
  if (checkpoint !== undefined) {
    await unpackArchive(await blobs.get(checkpoint), fresh);
  }
  await writeSkillFiles(join(fresh, "workspace"), skill);
  await writeGivenFiles(join(fresh, "workspace"), files);
}

/**
 * Whether the files here go on from the run's newest checkpoint. They may hold more than it, which is the work of an
 * attempt that was lost on this worker and is kept. If they go on from another one, a different worker had the run.
 */
function continues(held: readonly string[] | undefined, checkpoint: string | undefined): boolean {
  return held?.includes(checkpoint ?? NONE) ?? false;
}

async function storeCheckpoint(options: WorkspaceKeeperOptions, runId: RunId): Promise<string> {
  const directory = new RunDirectory(options.dataDir, runId);
  const held = (await directory.findCheckpoints()) ?? [];
  const id = await options.blobs.put(await pack(directory.path, options.maxBytes ?? DEFAULT_MAX_BYTES));
  // The one before is kept in the marker: until the run's row names the new one, it is still the newest.
  await directory.writeCheckpoints([...held.slice(-1), id]);
  return id;
}

async function pack(directory: string, maxBytes: number): Promise<Uint8Array> {
  try {
    return await packDirectory(directory, MEMBERS, {
      maxBytes,
      maxUnpackedBytes: maxBytes * MAX_COMPRESSION,
    });
  } catch (error) {
    throw error instanceof ArchiveTooLarge ? tooLarge(maxBytes, error) : error;
  }
}

/** The files stay here and the checkpoint before stays good: the caller tells it and goes on with the run. */
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
