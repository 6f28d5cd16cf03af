import { createHash, randomUUID } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import type { Run } from "../../../src/core/model/runs/run.ts";
import type { Artifact } from "../../../src/core/model/workspaces/artifact.ts";
import type { InputFile } from "../../../src/core/model/workspaces/input-file.ts";
import { aChange } from "../../support/run-builders.ts";
import { aStoredRun, type StorageHarness } from "./harness.ts";

export function describeFiles(harness: () => StorageHarness): void {
  const { put, inputs, artifact, add } = filesOf(harness);

  describe("files of runs", () => {
    test("blobs are stored unchanged until they are removed", async () => {
      const { blobs } = harness();
      const id = await blobs.put(Uint8Array.of(0, 255, 10));

      expect(Array.from(await blobs.get(id))).toEqual([0, 255, 10]);
      await blobs.remove(id);
      await blobs.remove(id);
      await expect(blobs.get(id)).rejects.toMatchObject({ code: "internal_error", retryable: false });
    });

    test("the hash of a blob is known without its bytes", async () => {
      const { blobs } = harness();
      const long = Buffer.alloc(2 * 2 ** 20 + 3, "long ");

      for (const bytes of [long, Buffer.alloc(0)]) {
        const hash = createHash("sha256").update(bytes).digest("hex");
        expect(await blobs.sha256(await blobs.put(bytes))).toBe(hash);
      }
      await expect(blobs.sha256(randomUUID())).rejects.toMatchObject({ retryable: false });
    });

    test("a blob is read piece by piece", async () => {
      const { blobs } = harness();
      const long = Buffer.alloc(2 * 2 ** 20 + 3, "long ");

      for (const bytes of [long, long.subarray(0, 2 ** 20), Buffer.alloc(0)]) {
        const id = await blobs.put(bytes);
        expect((await buffer(blobs.read(id))).equals(bytes)).toBe(true);
        expect(bytes.equals(await blobs.get(id))).toBe(true);
      }
      const gone = buffer(blobs.read(randomUUID()));
      await expect(gone).rejects.toMatchObject({ code: "internal_error", retryable: false });
    });

    test("a piece of a blob is read only when it is requested", async () => {
      const { blobs } = harness();
      const id = await blobs.put(Buffer.alloc(2 * 2 ** 20));
      const pieces = blobs.read(id)[Symbol.asyncIterator]();
      await pieces.next();

      await blobs.remove(id);

      await expect(pieces.next()).rejects.toMatchObject({ code: "internal_error" });
    });

    test("a blob that was just stored is not pruned", async () => {
      const id = await put();

      await harness().blobs.prune();

      expect(await harness().blobs.get(id)).toHaveLength(1);
    });

    test("input files of a run are stored in their order", async () => {
      const given = await inputs();
      const run = await aStoredRun(harness(), {}, { inputs: given });

      expect(await harness().storage.files.inputsOf(run.id)).toEqual(given);
      expect(await harness().storage.files.inputsOf((await aStoredRun(harness())).id)).toEqual([]);
    });

    test("two runs may have the same input files", async () => {
      const given = await inputs();
      await aStoredRun(harness(), {}, { inputs: given });
      const again = await aStoredRun(harness(), {}, { inputs: given });

      expect(await harness().storage.files.inputsOf(again.id)).toEqual(given);
    });

    test("artifacts of several runs are listed oldest first", async () => {
      const [first, second] = [await aStoredRun(harness()), await aStoredRun(harness())];
      const young = await add(first, artifact(first, { createdAt: new Date("2026-03-02") }));
      const old = await add(second, artifact(second, { createdAt: new Date("2026-03-01") }));

      const { files } = harness().storage;
      expect(await files.artifactsOf([first.id, second.id])).toEqual([old, young]);
      expect(await files.artifactsOf([first.id])).toEqual([young]);
      expect(await files.artifactsOf([])).toEqual([]);
      expect(await files.findArtifact(old.id)).toEqual(old);
      expect(await files.findArtifact(randomUUID())).toBeUndefined();
    });

    test("a newer version of an artifact replaces the previous one", async () => {
      const run = await aStoredRun(harness());
      const first = await add(run, artifact(run));
      const file = { blobId: await put(), sizeBytes: 1, hash: "b" };
      const second = await add(run, {
        ...first,
        version: 2,
        turn: 3,
        file,
        updatedAt: new Date("2026-03-09"),
      });

      expect(await harness().storage.files.artifactsOf([run.id])).toEqual([second]);
    });

    test("runs are found by their artifacts and returned with them", async () => {
      const run = await aStoredRun(harness());
      await harness().storage.runs.change(run.id, (aggregate) =>
        aChange(run, { progress: { ...aggregate.run, artifactTypes: ["FILE", "PLAN"] } }),
      );

      const found = await harness().storage.runs.list({
        viewer: { id: run.creatorId, teamId: run.teamId, administrator: false },
        filters: { artifactType: "PLAN", creatorId: run.creatorId },
        sort: "created_at",
        order: "asc",
        limit: 5,
      });

      expect(found.runs.map(({ artifactTypes }) => artifactTypes)).toEqual([["FILE", "PLAN"]]);
      expect(await aStoredRun(harness())).not.toHaveProperty("artifactTypes");
    });
  });

  describe("a conversation of several runs", () => {
    test("a conversation is found by its newest run and listed", async () => {
      const conversationId = randomUUID();
      const first = await aStoredRun(harness(), { conversationId });
      const createdAt = new Date(first.createdAt.getTime() + 1);
      const second = await aStoredRun(harness(), { conversationId, continuesId: first.id, createdAt });
      await aStoredRun(harness());

      const { runs } = harness().storage;
      expect(await runs.find({ conversationId })).toEqual(second);
      expect(second.continuesId).toBe(first.id);
      expect(await runs.find({ conversationId: randomUUID() })).toBeUndefined();
    });

    test("events are read by kind, after a position and up to a limit", async () => {
      const run = await aStoredRun(harness());
      const said = { kind: "agent.message", text: "x" } as const;
      const ended = { kind: "attempt.ended", attempt: 1, reason: "x" } as const;
      const events = [said, ended, said, ended, ended].map((body) => ({ turn: 1, body }));
      await harness().storage.runs.change(run.id, (aggregate) => aChange(aggregate.run, { events }));

      const read = async (after: number, limit: number) =>
        (await harness().storage.runs.readEvents(run.id, after, limit, ["attempt.ended"])).map(
          ({ seq }) => seq,
        );

      expect(await read(0, 9)).toEqual([3, 5, 6]);
      expect(await read(3, 1)).toEqual([5]);
    });
  });
}

function filesOf(harness: () => StorageHarness) {
  const put = () => harness().blobs.put(Uint8Array.of(1));
  const inputs = async (): Promise<readonly InputFile[]> => [
    { kind: "attachment", fileName: "b.txt", mimeType: "text/plain", sizeBytes: 1, blobId: await put() },
    { kind: "image", fileName: "a.png", mimeType: "image/png", sizeBytes: 1, blobId: await put() },
  ];
  const artifact = (run: Run, changes: Partial<Artifact> = {}): Artifact => ({
    id: randomUUID(),
    runId: run.id,
    key: randomUUID(),
    version: 1,
    turn: 1,
    body: { type: "EXTERNAL_REFERENCE", referenceType: "ticket", url: "https://x" },
    createdAt: new Date("2026-03-01"),
    updatedAt: new Date("2026-03-01"),
    ...changes,
  });
  const add = async (run: Run, made: Artifact): Promise<Artifact> => {
    await harness().storage.runs.change(run.id, (aggregate) => aChange(aggregate.run, { artifacts: [made] }));
    return made;
  };
  return { put, inputs, artifact, add };
}
