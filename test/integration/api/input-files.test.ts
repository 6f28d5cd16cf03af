import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MEBIBYTE } from "../../../src/core/basics/byte-units.ts";
import type { RunId } from "../../../src/core/basics/ids.ts";
import { createPrismaBlobStore } from "../../../src/storage/blob-store.ts";
import { Database } from "../../../src/storage/database.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { countRows } from "../../support/row-counts.ts";
import { type Answer, call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const LIMITS = { attachmentBytes: 1_000, attachmentsBytes: 2_500 };
const PNG = Buffer.from("89504e470d0a1a0a00", "hex");

let harness: ApiHarness;
let database: Database;
beforeAll(async () => {
  harness = await startHarness({ limits: LIMITS });
  database = new Database({ url: harness.databaseUrl, maxConnections: 1, log: SILENT_LOG });
});
afterAll(async () => {
  await database.close();
  await harness.close();
});

function base64(bytes: Buffer | string): string {
  return Buffer.from(bytes).toString("base64");
}

function file(data: string, file_name = "a.txt", mime_type = "text/plain") {
  return { file_name, mime_type, data };
}

function image(data: string, mime_type = "image/png") {
  return { data, mime_type };
}

function post(members: object, headers: Record<string, string> = {}): Promise<Answer> {
  return call(harness, "/api/v1/agent/runs", { body: { prompt: "x", ...members }, headers });
}

function countBlobs(): Promise<number> {
  return database.query((client) => client.blob.count());
}

describe("input files of a run", () => {
  test("input files are stored with the run in their order", async () => {
    const attachments = [file(base64("hello")), file("", "empty", "text/csv; header=present")];
    const id = await createRun(harness, { attachments, images: [image(base64(PNG))] });

    const inputs = await harness.storage.files.inputsOf(id as RunId);
    const bytes = await createPrismaBlobStore(database, harness.clock).get(inputs[0]?.blobId ?? "");

    expect(inputs).toMatchObject([
      { kind: "attachment", fileName: "a.txt", mimeType: "text/plain", sizeBytes: 5 },
      { kind: "attachment", fileName: "empty", mimeType: "text/csv", sizeBytes: 0 },
      { kind: "image", fileName: "image-1.png", mimeType: "image/png", sizeBytes: 9 },
    ]);
    expect(Buffer.from(bytes).toString()).toBe("hello");
  });

  test.each([
    ["image/jpeg", "ffd8ffe0"],
    ["image/png", "89504e470d0a1a0a"],
    ["image/gif", "474946383961"],
    ["image/webp", "524946460000000057454250"],
  ])("an image may be %s", async (type, hex) => {
    expect((await post({ images: [image(base64(Buffer.from(hex, "hex")), type)] })).status).toBe(200);
  });

  test("input files exactly at the limits are accepted", async () => {
    const full = file(base64(Buffer.alloc(1_000)));
    const attachments = [full, full, file(base64(Buffer.alloc(500)))];

    expect((await post({ attachments })).status).toBe(200);
  });
});

describe("refused input files", () => {
  test.each<[string, object, string]>([
    ["no base64", { attachments: [file("not base64!")] }, "attachments.0.data"],
    ["base64 cut short", { attachments: [file(base64("hello").slice(0, -1))] }, "attachments.0.data"],
    ["base64 of another alphabet", { attachments: [file("_-_-")] }, "attachments.0.data"],
    ["base64 with padding inside", { attachments: [file("YQ==YQ==")] }, "attachments.0.data"],
    [
      "an attachment over the limit",
      { attachments: [file(base64(Buffer.alloc(1_001)))] },
      "attachments.0.data",
    ],
    ["too much together", { attachments: Array(3).fill(file(base64(Buffer.alloc(900)))) }, "attachments"],
    [
      "too much together with images",
      {
        attachments: Array(2).fill(file(base64(Buffer.alloc(1_000)))),
        images: [image(base64(Buffer.concat([PNG, Buffer.alloc(600)])))],
      },
      "attachments",
    ],
    ["six attachments", { attachments: Array(6).fill(file("")) }, "attachments"],
    ["six images", { images: Array(6).fill(image("")) }, "images"],
    ["an image of another type than it says", { images: [image(base64(PNG), "image/gif")] }, "images.0.data"],
    ["an empty image", { images: [image("")] }, "images.0.data"],
    ["a sound for an image", { images: [image("", "audio/mpeg")] }, "images.0.mime_type"],
    ["no name", { attachments: [file("", "")] }, "attachments.0.file_name"],
    ["a type that is none", { attachments: [file("", "a", "text\nplain")] }, "attachments.0.mime_type"],
  ])("input files are refused: %s", async (_what, members, path) => {
    const blobs = await countBlobs();

    const { status, body } = await post(members);

    expect([status, body.code, body.issues[0].path]).toEqual([400, "invalid_request", path]);
    expect(await countBlobs()).toBe(blobs);
  });

  test("a run that is refused for another reason stores no files", async () => {
    const blobs = await countBlobs();

    const answer = await post({ attachments: [file("")], config: { harness: { type: "nobody" } } });

    expect(answer.status).toBe(400);
    expect(await countBlobs()).toBe(blobs);
  });
});

describe("the default limits", () => {
  let usual: ApiHarness;
  let store: Database;
  beforeAll(async () => {
    usual = await startHarness();
    store = new Database({ url: usual.databaseUrl, maxConnections: 1, log: SILENT_LOG });
  });
  afterAll(async () => {
    await store.close();
    await usual.close();
  });

  test("by default 20 MiB in two files are stored, and 50 MiB are refused before anything is stored", async () => {
    const files = [randomBytes(10 * MEBIBYTE), randomBytes(10 * MEBIBYTE)];
    const attachments = files.map((bytes) => file(base64(bytes)));

    const id = await createRun(usual, { attachments });
    const before = await countRows(usual.databaseUrl);
    // The test avoids the network, because a client that sends so much may see the closed connection before the
    // answer.
    const refused = await usual.server.inject({
      method: "POST",
      url: "/api/v1/agent/runs",
      headers: { authorization: `Bearer ${usual.key}` },
      payload: { prompt: "x", attachments: Array(5).fill(attachments[0]) },
    });

    const blobs = createPrismaBlobStore(store, usual.clock);
    const inputs = await usual.storage.files.inputsOf(id as RunId);
    const stored = await Promise.all(inputs.map(({ blobId }) => blobs.get(blobId)));
    expect(stored.map((bytes, index) => files[index]?.equals(bytes))).toEqual([true, true]);
    expect(refused.statusCode).toBe(413);
    expect(refused.headers["content-type"]).toContain("application/problem+json");
    expect(refused.json()).toMatchObject({
      type: expect.stringMatching(/\/problems\/invalid_request$/),
      status: 413,
      code: "invalid_request",
      retryable: false,
      detail: expect.stringContaining(`${30 * MEBIBYTE} bytes`),
    });
    expect(before).toMatchObject({ runs: 1, blobs: 2 });
    expect(await countRows(usual.databaseUrl)).toEqual(before);
  });
});

test("a request repeated with its idempotency key stores no files again", async () => {
  const members = { attachments: [file(base64("once"))] };
  const headers = { "idempotency-key": "files-once" };
  const first = await post(members, headers);
  const blobs = await countBlobs();

  const second = await post(members, headers);

  expect(second.body).toEqual(first.body);
  expect(await countBlobs()).toBe(blobs);
});

describe("unreferenced files", () => {
  test("files that no run references are deleted after an hour, and other files are not", async () => {
    const blobs = createPrismaBlobStore(database, harness.clock);
    const id = await createRun(harness, { attachments: [file(base64("kept"))] });
    const [orphan, fresh] = [await blobs.put(Buffer.from("orphan")), await blobs.put(Buffer.from("fresh"))];
    const checkpoint = await blobs.put(Buffer.from("checkpoint"));
    const artifact = await blobs.put(Buffer.from("artifact"));
    await harness.edit(id, (edit) => {
      edit.set({ checkpoint });
      const body = { type: "SCREENSHOT", mimeType: "image/png" } as const;
      edit.addArtifact({ key: "k", body, file: { blobId: artifact, sizeBytes: 1, hash: "h" } });
    });
    const old = { NOT: { id: fresh } };
    const createdAt = new Date(Date.now() - 61 * 60_000);
    await database.query((client) => client.blob.updateMany({ where: old, data: { createdAt } }));

    await blobs.prune();

    await expect(blobs.get(orphan)).rejects.toThrow("gone");
    const [input] = await harness.storage.files.inputsOf(id as RunId);
    for (const blobId of [fresh, checkpoint, artifact, input?.blobId ?? ""]) {
      await blobs.get(blobId);
    }
  });
});

describe("retrying a run", () => {
  test("a retry is a new child run with the same prompt, files and resolved configuration", async () => {
    const config = { base_prompt: "Be brief.", harness: { type: "oz" } };
    const members = { title: "T", config, mode: "plan", metadata: { a: "b" }, team: false };
    const id = await createRun(harness, { ...members, attachments: [file(base64("hello"))] });

    const { status, body } = await call(harness, `/api/v1/agent/runs/${id}/retry`, { method: "POST" });
    const again = (await call(harness, `/api/v1/agent/runs/${body.run_id}`)).body;
    const before = (await call(harness, `/api/v1/agent/runs/${id}`)).body;

    expect([status, body.state]).toEqual([200, "QUEUED"]);
    expect(again).toMatchObject({ parent_run_id: id, prompt: "do it", title: "T", metadata: { a: "b" } });
    expect(again.agent_config).toEqual(before.agent_config);
    expect(again.scope).toEqual(before.scope);
    expect(again.conversation_id).not.toBe(before.conversation_id);
    const inputs = await harness.storage.files.inputsOf(body.run_id);
    expect(inputs).toEqual(await harness.storage.files.inputsOf(id as RunId));
    expect((await harness.storage.runs.find({ id: body.run_id }))?.mode).toBe("plan");
  });

  test("a retry of a run that continued a conversation continues from the same place", async () => {
    const first = await createRun(harness);
    const { conversation_id } = (await call(harness, `/api/v1/agent/runs/${first}`)).body;
    const second = await createRun(harness, { conversation_id });

    const { body } = await call(harness, `/api/v1/agent/runs/${second}/retry`, { method: "POST" });

    expect(await harness.storage.runs.find({ id: body.run_id })).toMatchObject({
      conversationId: conversation_id,
      continuesId: first,
    });
  });

  test("two retries with one idempotency key are one run", async () => {
    const path = `/api/v1/agent/runs/${await createRun(harness)}/retry`;
    const headers = { "idempotency-key": "retry-once" };

    const first = await call(harness, path, { method: "POST", headers });
    const second = await call(harness, path, { method: "POST", headers });

    expect(second.body).toEqual(first.body);
    expect(second.headers.get("idempotent-replay")).toBe("true");
  });

  test("a retry of a hidden run is not found", async () => {
    const id = await createRun(harness, { team: false });
    const key = await harness.addUser("eve");

    expect((await call(harness, `/api/v1/agent/runs/${id}/retry`, { method: "POST", key })).status).toBe(404);
  });
});

test.each([
  [{ interactive: true }, "ask"],
  [{ interactive: true, config: { permission_policy: "allow" } }, "allow"],
  [{ interactive: false }, undefined],
])("an input file of the mode %j is stored with the permissions %s", async (members, expected) => {
  const id = await createRun(harness, members);

  const { body } = await call(harness, `/api/v1/agent/runs/${id}`);

  expect(body.agent_config.permission_policy).toBe(expected);
});

describe("files of a follow-up", () => {
  const send = (id: string, body: object, headers: Record<string, string> = {}) =>
    call(harness, `/api/v1/agent/runs/${id}/followups`, { body, headers });
  const filesOf = async (id: string) =>
    (await harness.storage.followUps.list(id as RunId, 0, 10)).map(({ files = [], message }) => ({
      message,
      files: files.map(({ fileName, kind, sizeBytes }) => [fileName, kind, sizeBytes]),
    }));

  test("they are stored with it in their order, also without a message", async () => {
    const id = await createRun(harness);
    const attachments = [file(base64("hello")), file(base64("a,b"), "b.csv", "text/csv")];

    expect((await send(id, { message: "See these", attachments, images: [image(base64(PNG))] })).status).toBe(
      200,
    );
    expect((await send(id, { attachments: [file("", "empty")] })).status).toBe(200);

    expect(await filesOf(id)).toEqual([
      {
        message: "See these",
        files: [
          ["a.txt", "attachment", 5],
          ["b.csv", "attachment", 3],
          ["image-1.png", "image", 9],
        ],
      },
      { message: "", files: [["empty", "attachment", 0]] },
    ]);
  });

  test("they go to the newest run of a conversation too, and a repeat stores them once", async () => {
    const id = await createRun(harness);
    const { conversation_id } = (await call(harness, `/api/v1/agent/runs/${id}`)).body;
    const again = () =>
      call(harness, `/api/v1/agent/conversations/${conversation_id}/followups`, {
        body: { attachments: [file(base64("x"))] },
        headers: { "idempotency-key": id },
      });

    const [first, repeat] = [await again(), await again()];

    expect(first.body).toMatchObject({ run_id: id, outcome: "queued_prompt" });
    expect(repeat.body).toEqual(first.body);
    expect(await filesOf(id)).toEqual([{ message: "", files: [["a.txt", "attachment", 1]] }]);
  });

  test.each([
    ["neither text nor files", {}, 400, "message"],
    ["blanks without files", { message: "  ", attachments: [] }, 400, "message"],
    [
      "a file without its bytes",
      { attachments: [{ file_name: "a", mime_type: "text/plain" }] },
      400,
      "attachments.0.data",
    ],
    ["no base64", { attachments: [file("*")] }, 400, "attachments.0.data"],
    ["an image of another type", { images: [image(base64("x"))] }, 400, "images.0.data"],
    ["a large file", { attachments: [file(base64(Buffer.alloc(1_001)))] }, 400, "attachments.0.data"],
    ["large files", { attachments: Array(3).fill(file(base64(Buffer.alloc(900)))) }, 400, "attachments"],
    ["26 files", { attachments: Array(26).fill(file("")) }, 400, "attachments"],
    ["an uploaded file", { attachments: [{ attachment_id: "att_1" }] }, 422, "attachments.0.attachment_id"],
  ])("%s is refused and leaves nothing", async (_what, body, status, path) => {
    const id = await createRun(harness);
    const before = await countBlobs();

    const answer = await send(id, body);

    expect([answer.status, answer.body.issues?.[0]?.path]).toEqual([status, path]);
    expect(await filesOf(id)).toEqual([]);
    expect(await countBlobs()).toBe(before);
  });

  test("an unknown run gets no files", async () => {
    const before = await countBlobs();

    const answer = await send(randomUUID(), { attachments: [file(base64("x"))] });

    expect(answer.status).toBe(404);
    expect(await countBlobs()).toBe(before);
  });
});
