import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newId, type RunId } from "../../../src/core/basics/ids.ts";
import { removeDeletedRuns } from "../../../src/workspace/deleted-runs.ts";
import { makeTemporaryFolder } from "../../support/data-dir.ts";

test("the files of deleted runs are removed from a worker, and nothing else", async () => {
  const dataDir = await makeTemporaryFolder();
  const [kept, deleted] = [newId<RunId>(new Date()), newId<RunId>(new Date())];
  for (const name of [kept, deleted, `.old-${deleted}`, "other"]) {
    await mkdir(join(dataDir, "runs", name, "workspace"), { recursive: true });
  }

  const count = await removeDeletedRuns(dataDir, async (id) => id === kept);

  expect(count).toBe(2);
  expect((await readdir(join(dataDir, "runs"))).sort()).toEqual([kept, "other"].sort());
  expect(await removeDeletedRuns(join(dataDir, "none"), async () => false)).toBe(0);
});
