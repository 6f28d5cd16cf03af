import { beforeEach, describe, expect, test } from "vitest";
import type { Run } from "../../../../../src/core/model/runs/run.ts";
import type { RequestFile } from "../../../../../src/core/model/workspaces/input-file.ts";
import type { CollectedFile } from "../../../../../src/core/model/workspaces/workspace.ts";
import { storeInputFiles } from "../../../../../src/core/requests/prepare/store-input-files.ts";
import { CoreHarness } from "../../../../support/core-harness.ts";
import { quiet } from "../../../../support/manual-clock.ts";

let harness: CoreHarness;
beforeEach(async () => {
  harness = new CoreHarness();
  await harness.start();
});

function text(fileName: string, words: string): RequestFile {
  return { kind: "attachment", fileName, mimeType: "text/plain", bytes: Buffer.from(words) };
}

const IMAGE: RequestFile = {
  kind: "image",
  fileName: "image-1.png",
  mimeType: "image/png",
  bytes: Buffer.from("png"),
};

async function perform(...files: readonly RequestFile[]): Promise<Run> {
  const { id } = await harness.create({ inputs: await storeInputFiles(harness.blobs, files) });
  await quiet();
  return harness.run(id);
}

async function eventsOf(run: Run, kind: string): Promise<readonly unknown[]> {
  return (await harness.events(run.id)).map(({ body }) => body).filter((body) => body.kind === kind);
}

describe("input files of a run", () => {
  test("input files are put into the first workspace and named in the first turn only", async () => {
    const run = await perform(text("a.txt", "one"), text("../a.txt", "two"));
    await harness.followUp(run.id, "more");

    const [{ files = [] } = {}] = harness.workspaces.beginnings;
    expect(files.map(({ path, bytes }) => [path, Buffer.from(bytes).toString()])).toEqual([
      ["attachments/a.txt", "one"],
      ["attachments/a-2.txt", "two"],
    ]);
    expect(harness.agents.prompts[0]).toContain("- attachments/a-2.txt (text/plain, 3 bytes)");
    expect(harness.agents.prompts[1]).toBe("more");
  });

  test("images are sent with the first prompt and as files", async () => {
    const run = await perform(IMAGE, text("a.txt", "one"));
    await harness.followUp(run.id, "more");

    expect(harness.agents.extras.map(({ images }) => images)).toEqual([
      [{ mimeType: "image/png", bytes: new Uint8Array(Buffer.from("png")) }],
      [],
    ]);
    expect(harness.workspaces.beginnings[0]?.files.map(({ path }) => path)).toContain(
      "attachments/image-1.png",
    );
  });

  test("input files are logged without their bytes", async () => {
    const run = await perform(IMAGE);

    expect(await eventsOf(run, "run.created")).toEqual([
      {
        kind: "run.created",
        state: "QUEUED",
        files: [{ path: "attachments/image-1.png", kind: "image", mimeType: "image/png", sizeBytes: 3 }],
      },
    ]);
  });
});

describe("artifacts of a run", () => {
  const report = collectedFile("artifacts/report.md", "1");

  test("files that a turn leaves become artifacts at its end", async () => {
    harness.workspaces.found.push({ files: [report, collectedFile("artifacts/b/c.bin", "2")], leftOut: [] });

    const run = await perform();

    const artifacts = await harness.storage.files.artifactsOf([run.id]);
    expect(run.artifactTypes).toEqual(["FILE"]);
    expect(artifacts).toMatchObject([
      { body: { fileName: "c.bin", mimeType: "application/octet-stream" } },
      {
        version: 1,
        turn: 1,
        body: {
          type: "FILE",
          filePath: "artifacts/report.md",
          fileName: "report.md",
          mimeType: "text/markdown",
        },
        file: { blobId: "blob-1", hash: "hash-1", sizeBytes: 1 },
      },
    ]);
    expect(await eventsOf(run, "artifact.added")).toHaveLength(2);
  });

  test("the same path in a later turn is the next version of the same artifact", async () => {
    harness.workspaces.found.push({ files: [report], leftOut: [] });
    const run = await perform();
    const [before] = await harness.storage.files.artifactsOf([run.id]);
    harness.workspaces.found.push({ files: [collectedFile("artifacts/report.md", "2")], leftOut: [] });
    await harness.followUp(run.id, "again");

    const artifacts = await harness.storage.files.artifactsOf([run.id]);
    expect(artifacts).toMatchObject([{ id: before?.id, version: 2, turn: 2, file: { hash: "hash-2" } }]);
    expect(harness.workspaces.known.at(-1)).toEqual(new Map([["artifacts/report.md", "hash-1"]]));
  });

  test("files that were left out are logged without secrets", async () => {
    const leftOut = Array.from({ length: 30 }, (_, index) => ({
      path: `artifacts/s3cret-${index}`,
      reason: "is a link",
    }));
    harness.workspaces.found.push({ files: [collectedFile("artifacts/s3cret.txt", "1")], leftOut });

    const run = await perform();

    const [told] = (await eventsOf(run, "artifact.left_out")) as [{ files: object[] }];
    expect(told.files).toHaveLength(20);
    expect(told.files[0]).toEqual({ path: "artifacts/[redacted]-0", reason: "is a link" });
    expect(await harness.storage.files.artifactsOf([run.id])).toMatchObject([
      { body: { filePath: "artifacts/[redacted].txt" } },
    ]);
  });

  test("files of a cancelled turn become artifacts too", async () => {
    harness.workspaces.found.push({ files: [report], leftOut: [] });
    harness.agents.scripts.push(async ({ cancelled }) => {
      await new Promise((resolve) => cancelled.addEventListener("abort", resolve, { once: true }));
      return { stopReason: "cancelled" };
    });
    const run = await perform();
    await harness.cancel(run.id);
    await quiet();

    expect((await harness.run(run.id)).artifactTypes).toEqual(["FILE"]);
  });
});

function collectedFile(path: string, name: string): CollectedFile {
  return { path, blobId: `blob-${name}`, hash: `hash-${name}`, sizeBytes: 1 };
}
