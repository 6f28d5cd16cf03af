import { AppError } from "../core/errors.ts";
import type { RunId } from "../core/ids.ts";
import type {
  LeftOutFile,
  Preparation,
  PreparedWorkspace,
  WorkspaceProvider,
} from "../core/workspaces/workspace.ts";
import { collectArtifacts } from "./artifact-collector.ts";
import { packCheckpoint, restoreCheckpoint } from "./checkpoint.ts";
import { diskSizeOf } from "./disk-size.ts";
import { NewWorkspace } from "./new-workspace.ts";
import { PreparedEnvironments, type PreparedLimits } from "./prepared-environments.ts";
import { relocate } from "./relocate.ts";
import { RunDirectory } from "./run-directory.ts";
import { Steps } from "./steps.ts";
import type { WorkspaceDeps } from "./workspace-deps.ts";
import { readRecord, writeRecord } from "./workspace-record.ts";

/**
 * The limit of the compressed checkpoint, which passes through memory in one piece and is usually stored in a
 * database.
 */
const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;

/** The marker of a run that has no checkpoint yet. */
const NONE = "";

export interface WorkspaceProviderOptions extends Omit<WorkspaceDeps, "prepared" | "maxBytes"> {
  readonly maxBytes?: number;
  readonly prepared?: Partial<PreparedLimits>;
}

export function createWorkspaceProvider(options: WorkspaceProviderOptions): WorkspaceProvider {
  const { dataDir, log, maxBytes = DEFAULT_MAX_BYTES } = options;
  const deps = { ...options, maxBytes, prepared: new PreparedEnvironments(dataDir, log, options.prepared) };
  return {
    prepare: (preparation) => prepare(deps, preparation),
    collect: (runId, known) =>
      collectArtifacts(new RunDirectory(dataDir, runId).directory, options.blobs, known),
    size: (runId) => diskSizeOf(new RunDirectory(dataDir, runId).path),
    shownPaths: (runId) => new RunDirectory(dataDir, runId).shownPaths(),
    checkpoint: (runId, onLeftOut = () => undefined) => storeCheckpoint(deps, runId, onLeftOut),
    forget: (checkpoint) => options.blobs.remove(checkpoint),
  };
}

async function prepare(deps: WorkspaceDeps, preparation: Preparation): Promise<PreparedWorkspace> {
  const run = new RunDirectory(deps.dataDir, preparation.runId);
  try {
    const isOwnCopy = continues(await run.findCheckpoints(), preparation.checkpoint);
    if (isOwnCopy) {
      await continueHere(deps, run);
    } else {
      await build(deps, preparation, run);
    }
    return { ...(await run.workspace(deps.sandbox)), isOwnCopy };
  } catch (error) {
    // The blob store already says whether a retry can help.
    if (error instanceof AppError) {
      throw error;
    }
    const message = "The run's workspace could not be prepared on this worker.";
    throw new AppError("environment_setup_failed", message, { cause: error });
  }
}

/** An earlier version, or a worker with another sandbox, may have shown the files at other paths. */
async function continueHere({ sandbox }: WorkspaceDeps, run: RunDirectory): Promise<void> {
  const record = await readRecord(run.path);
  const place = run.placeFor(sandbox);
  if (record.place !== place) {
    await relocate(run.path, record.place, place);
    await writeRecord(run.path, { ...record, place });
  }
}

async function build(deps: WorkspaceDeps, preparation: Preparation, run: RunDirectory): Promise<void> {
  const { checkpoint, report } = preparation;
  const steps = new Steps(report);
  const restored = (archive: Uint8Array) => restoreCheckpoint(archive, { deps, preparation, run, steps });
  if (checkpoint !== undefined) {
    const archive = await deps.blobs.get(checkpoint);
    return run.build([checkpoint], () => restored(archive));
  }
  const initialContents = await preparation.initialContents();
  const { checkpoint: before } = initialContents;
  const archive = before === undefined ? undefined : await deps.blobs.get(before);
  const first = new NewWorkspace({ deps, preparation, initialContents, run, steps });
  await run.build([NONE], async () =>
    first.make(archive === undefined ? undefined : await restored(archive)),
  );
}

/**
 * Whether the local files continue the run's newest checkpoint. They may contain more, which is the work of a lost
 * attempt on this worker and is kept. If they continue another checkpoint, another worker had the run meanwhile.
 */
function continues(held: readonly string[] | undefined, checkpoint: string | undefined): boolean {
  return held?.includes(checkpoint ?? NONE) ?? false;
}

async function storeCheckpoint(
  { blobs, dataDir, maxBytes }: WorkspaceDeps,
  runId: RunId,
  onLeftOut: (file: LeftOutFile) => void,
): Promise<string> {
  const run = new RunDirectory(dataDir, runId);
  const held = (await run.findCheckpoints()) ?? [];
  // A second, lean archive reports the same files again.
  const leftOut = new Map<string, string>();
  const id = await blobs.put(
    await packCheckpoint(run.path, maxBytes, (path, reason) => leftOut.set(path, reason)),
  );
  // The previous checkpoint stays in the marker, because it is the newest until the run's row names the new one.
  await run.writeCheckpoints([...held.slice(-1), id]);
  for (const [path, reason] of leftOut) {
    onLeftOut({ path, reason });
  }
  return id;
}
