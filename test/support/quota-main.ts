import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { systemClock } from "../../src/app/system.ts";
import { MEBIBYTE } from "../../src/core/basics/byte-units.ts";
import type { RunId } from "../../src/core/basics/ids.ts";
import { diskSizeOf } from "../../src/workspace/disk.ts";
import { removeTree } from "../../src/workspace/file-trees.ts";
import { findProjectQuota } from "../../src/workspace/project-quota.ts";
import { SILENT_LOG } from "./logs.ts";
import { createInMemoryBlobStore } from "./memory/storage/blob-store.ts";
import { aPreparation, aWorkspaceProvider } from "./workspace-harness.ts";

const run = promisify(execFile);
const FULL = "01a1fa78-a94c-7e01-856b-378c7de9fd50" as RunId;
const OTHER = "01a1fa78-a94c-7e01-856b-378c7de9fd51" as RunId;

/** What happens to workspaces of at most 10 MiB, in data directories below `disk`, which has project quotas. */
async function useWorkspaces(disk: string): Promise<Record<string, unknown>> {
  const blobs = createInMemoryBlobStore(systemClock);
  const openWorker = async (name: string) => {
    const dataDir = join(disk, name);
    const quota = await findProjectQuota({ dataDir, maxBytes: 10 * MEBIBYTE, log: SILENT_LOG });
    return aWorkspaceProvider(dataDir, { blobs, quota });
  };
  const [first, second] = [await openWorker("one"), await openWorker("two")];
  const { directory: full } = await first.prepare(aPreparation(FULL));
  const { directory: other } = await first.prepare(aPreparation(OTHER));
  const refusal = await write(join(full, "large"), 30);
  const size = await first.size(FULL);
  const ofAnother = await write(join(other, "kept"), 2);
  const checkpoint = await first.checkpoint(OTHER);
  const { directory: restored } = await second.prepare(aPreparation(OTHER, { stored: { checkpoint } }));
  const restoredSize = await diskSizeOf(join(restored, "kept"));
  const ofRestored = await write(join(restored, "large"), 30);
  await removeTree(dirname(full));
  const { directory: again } = await first.prepare(aPreparation(FULL));
  return {
    ...{ refusal, ofAnother, ofRestored },
    sizeMib: size / MEBIBYTE,
    restoredMib: restoredSize / MEBIBYTE,
    afterDeletion: await write(join(again, "small"), 8),
  };
}

/** Writes without the right of root to exceed quotas, which no sandbox has. Returns the error. */
async function write(path: string, mebibytes: number): Promise<string> {
  const command = ["dd", "if=/dev/urandom", `of=${path}`, "bs=1M", `count=${mebibytes}`];
  return run("setpriv", ["--bounding-set=-sys_resource", ...command]).then(
    () => "",
    (error) => String(error.stderr),
  );
}

const [disk = "", result = ""] = process.argv.slice(2);
await writeFile(result, JSON.stringify(await useWorkspaces(disk)));
