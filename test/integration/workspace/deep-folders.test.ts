import { execFileSync } from "node:child_process";
import { lstat, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../../src/app/system.ts";
import type { RunId } from "../../../src/core/basics/ids.ts";
import { removeTree } from "../../../src/workspace/file-trees.ts";
import { findWritten } from "../../../src/workspace/written-paths.ts";
import { createInMemoryBlobStore } from "../../support/memory/storage/blob-store.ts";
import { aPreparation, aWorkspaceProvider } from "../../support/workspace-harness.ts";

const RUN = "0197f3a2-0000-7000-8000-000000000001" as RunId;
const LONG = "n".repeat(200);
/** More than the 4,096 bytes of a path that one call of the system takes. */
const MAKE_LONG = `i=0; while [ $i -lt 30 ]; do mkdir ${LONG}; cd -P ${LONG}; i=$((i+1)); done; echo x > file`;
const MAKE_MANY = `mkdir -p ${"d/".repeat(300)}`;

let root: string;
let directory: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "errand-deep-"));
});
afterEach(() => removeTree(root));

test.each([
  ["many folders", MAKE_MANY],
  ["folders with long names", MAKE_LONG],
])(
  "%s inside each other are left out of a checkpoint and named, and the rest is restored",
  async (_, make) => {
    const blobs = createInMemoryBlobStore(systemClock);
    const provider = aWorkspaceProvider(root, { blobs });
    ({ directory } = await provider.prepare(aPreparation(RUN)));
    execFileSync("sh", ["-c", make], { cwd: directory });
    await writeFile(join(directory, "kept.txt"), "kept");
    const leftOut: { path: string; reason: string }[] = [];

    const checkpoint = await provider.checkpoint(RUN, (file) => leftOut.push(file));
    const within = { checkpoint };
    await writeFile(join(directory, "later.txt"), "later");
    const stored = await provider.storeWithinTurn(RUN, within, new AbortController().signal);

    const named = {
      path: expect.stringMatching(/^workspace\/[dn/]{190}…$/),
      reason: "it lies in too many folders",
    };
    expect(leftOut).toEqual([named]);
    expect(stored).toMatchObject({ checkpoint, delta: expect.any(String), leftOut: [named] });
    const elsewhere = aWorkspaceProvider(await mkdtemp(join(root, "elsewhere-")), { blobs });
    const restored = await elsewhere.prepare(
      aPreparation(RUN, { stored: { checkpoint, delta: stored?.delta } }),
    );
    expect(await readFile(join(restored.directory, "kept.txt"), "utf8")).toBe("kept");
    expect(await readFile(join(restored.directory, "later.txt"), "utf8")).toBe("later");
  },
);

test("a search for paths ends at folders that lie too deep, and finds what lies above", async () => {
  execFileSync("sh", ["-c", MAKE_LONG], { cwd: root });
  await writeFile(join(root, LONG, "here"), "/some/place");

  expect((await findWritten(root, "/some/place")).paths).toEqual([`${LONG}/here`]);
});

test("folders that lie too deep are removed", async () => {
  const place = await mkdtemp(join(root, "place-"));
  execFileSync("sh", ["-c", `${MAKE_LONG}; chmod 500 .`], { cwd: place });

  await removeTree(place);

  await expect(lstat(place)).rejects.toMatchObject({ code: "ENOENT" });
});
