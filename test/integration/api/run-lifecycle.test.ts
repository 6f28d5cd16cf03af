import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LeaseToken, newId, type RunId } from "../../../src/core/basics/ids.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import { CHANNELS } from "../../../src/core/ports/pubsub.ts";
import { WebhookFanOut } from "../../../src/core/team/webhooks/webhook-fan-out.ts";
import { withConnection } from "../../../src/storage/connection.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { anInboxEvent, aReply, aThread } from "../../support/run-builders.ts";
import { waitFor } from "../../support/wait-for.ts";
import { type Call, call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";
import { openStream } from "./event-reader.ts";

const AGENT = "/api/v1/agent";
const RUNS = `${AGENT}/runs`;
const SECRET = `whsec_${randomBytes(32).toString("base64")}`;
const WEBHOOK = { url: "https://receiver.example/hook", secret: SECRET };

let harness: ApiHarness;
let ann: string;
let ben: string;
beforeAll(async () => {
  harness = await startHarness();
  [ann, ben] = [await harness.addUser("ann"), await harness.addUser("ben")];
});
afterAll(() => harness.close());

const at = (path: string, options: Call = {}) => call(harness, `${AGENT}${path}`, options);
const patch = (id: string, body: object, options: Call = {}) =>
  at(`/runs/${id}`, { method: "PATCH", body, ...options });
const remove = (id: string, options: Call = {}) => at(`/runs/${id}`, { method: "DELETE", ...options });
const cancel = (...run_ids: string[]) => at("/runs/cancel", { body: { run_ids } });

async function anEndedRun(body: object = {}, options: Call = {}): Promise<RunId> {
  const id = await createRun(harness, body, options);
  await harness.edit(id, (edit) => edit.moveTo("CANCELLED"));
  return id as RunId;
}

async function fanOut(): Promise<void> {
  const { storage } = harness;
  const tools = { redact: (text: string) => text, sessionLink: () => "https://errand.example" };
  await new WebhookFanOut({ storage, log: SILENT_LOG, ...tools }).round();
}

async function query(
  sql: string,
  values: readonly unknown[] = [],
): Promise<readonly Record<string, unknown>[]> {
  const options = { applicationName: "errand tests", queryLimitMs: 30_000 };
  const { rows } = await withConnection(harness.databaseUrl, options, (client) =>
    client.query<Record<string, unknown>>(sql, [...values]),
  );
  return rows;
}

/** The number of rows that name the run, in every table that can. */
async function rowsOfRun(id: string): Promise<Record<string, number>> {
  const tables = await query(
    "SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'run_id'",
  );
  const counts = tables.map(async ({ table_name: name }) => {
    const [row] = await query(`SELECT count(*)::int AS count FROM ${name} WHERE run_id = $1::uuid`, [id]);
    return [String(name), Number(row?.count)] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

describe("a changed run", () => {
  test("a new title and new metadata replace the old ones, and the list finds the run by them", async () => {
    const id = await createRun(harness, { title: "Old", metadata: { a: "1", b: "2" } });
    const [title, ticket] = [`Zebra ${randomUUID()}`, randomUUID()];

    const { status, body } = await patch(id, { title, metadata: { ticket } });

    expect([status, body.title, body.metadata]).toEqual([200, title, { ticket }]);
    const ids = async (query: string) =>
      (await at(`/runs?${query}`)).body.runs.map(({ run_id }: { run_id: string }) => run_id);
    expect(await ids(`metadata[ticket]=${ticket}`)).toEqual([id]);
    expect(await ids(`q=${encodeURIComponent(title)}`)).toEqual([id]);
    expect(await ids("metadata[a]=1")).not.toContain(id);
    const { events } = (await at(`/runs/${id}/events`, { headers: { accept: "application/json" } })).body;
    expect(events.at(-1)).toMatchObject({ kind: "run.updated", members: ["title", "metadata"] });
    expect(body.updated_at).toBe((await at(`/runs/${id}`)).body.updated_at);
    expect(Date.parse(body.updated_at)).toBeGreaterThanOrEqual(Date.parse(body.created_at));
  });

  test("an ended run can be changed, and unchanged values add no event", async () => {
    const id = await anEndedRun({ title: "Same" });
    const before = (await at(`/runs/${id}`)).body.updated_at;

    expect((await patch(id, { title: "Same" })).body.updated_at).toBe(before);
    expect((await patch(id, { title: "Other" })).body).toMatchObject({ title: "Other", state: "CANCELLED" });
  });

  test("the limits of a new run apply, and a hidden run is not found", async () => {
    const hidden = await createRun(harness, { team: false }, { key: ann });

    const statuses = [
      (await patch(hidden, { title: "x".repeat(301) }, { key: ann })).status,
      (await patch(hidden, { metadata: { "not allowed": "x" } }, { key: ann })).status,
      (await patch(hidden, { title: "x" }, { key: ben })).status,
      (await patch(hidden, { title: "x" }, { key: ann })).status,
    ];

    expect(statuses).toEqual([400, 400, 404, 200]);
  });
});

describe("a deleted run", () => {
  test("a run that has not ended, or that a worker still stops, cannot be deleted", async () => {
    const id = await createRun(harness);
    const running = await remove(id);
    await harness.edit(id, (edit) => {
      edit.moveTo("CANCELLED");
      edit.grantLease({ token: newId<LeaseToken>(new Date()), worker: "w", ttlMs: 60_000 });
    });
    const leased = await remove(id);
    await harness.edit(id, (edit) => edit.dropLease());
    const free = await remove(id);

    expect([running.status, leased.status, free.status]).toEqual([409, 409, 204]);
    expect([running, leased].map(({ headers }) => headers.get("x-should-retry"))).toEqual(["false", "false"]);
    expect(free.text).toBe("");
  });

  test("a deleted run is not found anywhere, and a repeat with the key of the deletion succeeds", async () => {
    const id = await anEndedRun({ webhook: WEBHOOK });
    const transcript = await at(`/runs/${id}/transcript`);
    const signed = transcript.headers.get("location") ?? expect.fail("There is no link.");
    const headers = { "idempotency-key": randomUUID() };

    const first = await remove(id, { headers });
    const again = await remove(id, { headers });
    const without = await remove(id);

    expect([first.status, again.status, without.status]).toEqual([204, 204, 404]);
    expect(again.headers.get("idempotent-replay")).toBe("true");
    const reads = ["", "/events", "/conversation", "/timeline", "/share-links", "/webhook-deliveries"];
    for (const path of reads) {
      expect((await at(`/runs/${id}${path}`)).status).toBe(404);
    }
    expect(
      (await call(harness, new URL(signed, harness.url).pathname + new URL(signed, harness.url).search))
        .status,
    ).toBe(404);
    expect(
      (await at("/runs?limit=500")).body.runs.map((run: { run_id: string }) => run.run_id),
    ).not.toContain(id);
  });

  test("the key of a deleted run makes no second run, and nothing of the answer is kept", async () => {
    const headers = { "idempotency-key": randomUUID() };
    const body = { prompt: "say a secret word", title: "Of a deleted run" };
    const create = (more: object = {}) => at("/runs", { body: { ...body, ...more }, headers });
    const id = (await create()).body.run_id;
    await at(`/runs/${id}/cancel`, { method: "POST" });
    await remove(id);

    const [again, other] = [await create(), await create({ title: "Another" })];

    expect([again.status, again.body.code, again.headers.get("x-should-retry")]).toEqual([
      409,
      "conflict",
      "false",
    ]);
    expect(again.body.detail).toBe("The run of this Idempotency-Key was deleted.");
    expect(other.status).toBe(422);
    const [row] = await query("SELECT status, body, run_id FROM idempotent_responses WHERE key LIKE $1", [
      `%${headers["idempotency-key"]}`,
    ]);
    expect(row).toEqual({ status: 410, body: null, run_id: null });
  });

  test("no table has a row of a deleted run, and its files are deleted with it", async () => {
    const thread = aThread();
    const attachments = [{ file_name: "a.txt", mime_type: "text/plain", data: "aGVsbG8=" }];
    const id = await createRun(harness, { attachments, webhook: WEBHOOK });
    const headers = { "idempotency-key": randomUUID() };
    await at(`/runs/${id}/followups`, { body: { message: "And more." }, headers });
    await at(`/runs/${id}/share-links`, { body: {} });
    const comment = { path: "a.ts", side: "right", line: 1, hunk: "+a", body: "Why?" };
    await at(`/runs/${id}/draft-comments/${randomUUID()}`, { method: "PUT", body: comment });
    const event = anInboxEvent();
    await harness.storage.inbox.put(event);
    await harness.storage.inbox.complete({
      ...{ inboxId: event.id, disposition: "run_created", runId: id as RunId, teamId: FIRST_TEAM },
    });
    const blobs = [randomUUID(), randomUUID()] as const;
    await query("INSERT INTO blobs (id, bytes) SELECT unnest($1::uuid[]), 'x'", [blobs]);
    await harness.edit(id, (edit) => {
      edit.bind({ thread, expected: undefined });
      const body = { type: "FILE", filePath: "a", fileName: "a", mimeType: "text/plain" } as const;
      edit.addArtifact({ key: "a", body, file: { blobId: blobs[0], sizeBytes: 1, hash: "a" } });
      const repository = { owner: "acme", name: "web", turn: 1, base: "ba5e", files: [], isTruncated: false };
      edit.setChanges([{ ...repository, blobId: blobs[1], sizeBytes: 1 }]);
      edit.moveTo("CANCELLED");
    });
    await waitFor(
      async () => {
        await fanOut();
        return (await at(`/runs/${id}/webhook-deliveries`)).body.deliveries.length;
      },
      { what: "a delivery of the run's webhook" },
    );
    // An ended run has none, except one that another process leaves.
    await query("INSERT INTO run_leases (run_id, token, expires_at) VALUES ($1, $1, now())", [id]);

    const before = await rowsOfRun(id);
    const blobsBefore = await query("SELECT count(*)::int AS count FROM blobs");
    const { status } = await remove(id);
    const blobsAfter = await query("SELECT count(*)::int AS count FROM blobs");

    // A cursor stands at a position of the log, which is no row of the run. An ended run is in no queue.
    const { event_log_cursors: _position, run_queue: _ended, ...rows } = before;
    expect(Object.entries(rows).filter(([, count]) => count === 0)).toEqual([]);
    expect(status).toBe(204);
    const { event_log_cursors: _same, ...left } = await rowsOfRun(id);
    expect(Object.entries(left).filter(([, count]) => count > 0)).toEqual([]);
    expect(Number(blobsBefore[0]?.count) - Number(blobsAfter[0]?.count)).toBe(3);
  });

  test("workers are notified of a deleted run", async () => {
    const id = await anEndedRun();
    let count = 0;
    const unsubscribe = harness.pubsub.subscribe(CHANNELS.deletedRuns, () => {
      count += 1;
    });

    await remove(id);
    unsubscribe();

    expect(count).toBe(1);
  });

  test("nothing of a deleted run stays in its threads and in the inbox, and its thread has no run", async () => {
    const thread = aThread();
    const id = await createRun(harness);
    await harness.edit(id, (edit) => edit.bind({ thread, expected: undefined }));
    const event = anInboxEvent({ body: "said in confidence" });
    await harness.storage.inbox.put(event);
    await harness.storage.inbox.complete({
      inboxId: event.id,
      disposition: "run_created",
      runId: id as RunId,
      teamId: FIRST_TEAM,
    });
    await harness.edit(id, (edit) => edit.moveTo("CANCELLED"));
    const taken = await harness.storage.outbox.take(thread.id);

    expect((await remove(id)).status).toBe(204);
    // The dispatcher may have posted a notice meanwhile.
    await harness.storage.outbox.sent(taken?.id ?? "", "receipt");

    expect(await harness.storage.outbox.take(thread.id)).toBeUndefined();
    expect((await harness.storage.threads.findById(thread.id))?.runId).toBeUndefined();
    expect((await at(`/notices?run_id=${id}`)).body.notices).toEqual([]);
    expect((await at(`/inbox?run_id=${id}`)).body.events).toEqual([]);
  });

  test("children of a deleted run keep working, and a retry of a run that continued it starts anew", async () => {
    const id = await anEndedRun({
      attachments: [
        { file_name: "a.txt", mime_type: "text/plain", data: Buffer.from("one").toString("base64") },
      ],
    });
    const { conversation_id } = (await at(`/runs/${id}`)).body;
    const retry = (await at(`/runs/${id}/retry`, { method: "POST" })).body.run_id;
    const continuing = await createRun(harness, { conversation_id, prompt: "more" });

    expect((await remove(id)).status).toBe(204);

    const children = (await at(`/runs?ancestor_run_id=${id}`)).body.runs;
    expect(children.map((run: { run_id: string }) => run.run_id)).toEqual([retry]);
    expect((await at(`/runs/${retry}`)).body.parent_run_id).toBe(id);
    const [input] = await harness.storage.files.inputsOf(retry);
    expect(input?.fileName).toBe("a.txt");
    expect((await at(`/runs/${retry}/retry`, { method: "POST" })).status).toBe(200);
    expect((await at(`/runs/${continuing}/conversation`)).status).toBe(200);
    expect((await at(`/runs/${continuing}/retry`, { method: "POST" })).status).toBe(200);
  });

  test("open streams of a deleted run end", async () => {
    const id = await anEndedRun();
    const stream = await openStream(harness, id, { query: "?follow=true" });
    await stream.until(2);

    await remove(id);

    await stream.untilOver();
  });

  test("the log of all runs and the fan-out continue behind the events of a deleted run", async () => {
    const created = await at("/webhooks", { body: { url: WEBHOOK.url } });
    const { next_after } = (await at("/events", { headers: { accept: "application/json" } })).body;
    const gone = await anEndedRun();
    await remove(gone);
    const kept = await createRun(harness);

    await waitFor(
      async () => {
        await fanOut();
        const path = `/webhooks/${created.body.id}/deliveries`;
        const told = (await at(path)).body.deliveries.map((each: { run_id: string }) => each.run_id);
        expect(told).not.toContain(gone);
        return told.includes(kept);
      },
      { what: "the delivery of the run that stays" },
    );
    // The page may begin with events of earlier tests that were not readable before.
    const page = await at(`/events?after=${next_after}`, { headers: { accept: "application/json" } });
    const ids = page.body.events.map((event: { run_id: string }) => event.run_id);
    expect([ids.at(-1), ids.includes(gone)]).toEqual([kept, false]);
    await at(`/webhooks/${created.body.id}`, { method: "DELETE" });
  });

  test("a follow-up that races the deletion either continues the run or does not find it", async () => {
    for (let round = 0; round < 8; round += 1) {
      const id = await anEndedRun();
      const [followUp, deletion] = await Promise.all([
        at(`/runs/${id}/followups`, { body: { message: "more" } }),
        remove(id),
      ]);
      const now = (await at(`/runs/${id}`)).status;
      expect([
        [200, 409, 200],
        [404, 204, 404],
      ]).toContainEqual([followUp.status, deletion.status, now]);
    }
  });
});

describe("several cancelled runs", () => {
  test("each run gets its own result in the order of the request, and a repeat is safe", async () => {
    const [queued, twice] = [await createRun(harness), await createRun(harness)];
    const cancelled = await anEndedRun();
    const succeeded = await createRun(harness);
    await harness.edit(succeeded, (edit) => edit.moveTo("PENDING"));
    await harness.edit(succeeded, (edit) => edit.moveTo("SUCCEEDED"));
    const unknown = randomUUID();

    const { status, body } = await cancel(twice, queued, cancelled, succeeded, unknown, "no-id", twice);

    expect(status).toBe(200);
    expect(body.results).toEqual([
      { run_id: twice, status: "cancelled" },
      { run_id: queued, status: "cancelled" },
      { run_id: cancelled, status: "already_cancelled" },
      { run_id: succeeded, status: "ended" },
      { run_id: unknown, status: "not_found" },
      { run_id: "no-id", status: "not_found" },
      { run_id: twice, status: "cancelled" },
    ]);
    expect((await cancel(queued)).body.results).toEqual([{ run_id: queued, status: "already_cancelled" }]);
    expect((await cancel(...Array.from({ length: 101 }, () => queued))).status).toBe(400);
  });

  test("a cancellation that races the end of a run reports what the run became", async () => {
    for (let round = 0; round < 8; round += 1) {
      const id = await createRun(harness);
      await harness.edit(id, (edit) => edit.moveTo("PENDING"));
      const [{ body }] = await Promise.all([
        cancel(id),
        harness.edit(id, (edit) => edit.moveTo("SUCCEEDED")).catch(() => undefined),
      ]);
      const { state } = (await at(`/runs/${id}`)).body;
      expect([
        ["cancelled", "CANCELLED"],
        ["ended", "SUCCEEDED"],
      ]).toContainEqual([body.results[0].status, state]);
    }
  });
});

describe("the webhook of one run", () => {
  test("a run's webhook gets the messages of that run alone, also of a private one, and no list of the team shows it", async () => {
    const id = await createRun(harness, { team: false, webhook: WEBHOOK }, { key: ann });
    const other = await createRun(harness);
    await harness.edit(id, (edit) => edit.moveTo("CANCELLED"));
    const list = (options: Call = {}) => at(`/runs/${id}/webhook-deliveries`, { key: ann, ...options });

    await waitFor(
      async () => {
        await fanOut();
        return (await list()).body.deliveries.length === 2;
      },
      { what: "two deliveries" },
    );

    const { deliveries } = (await list()).body;
    expect(deliveries.map((each: { type: string }) => each.type)).toEqual(["run.cancelled", "run.created"]);
    expect((await list({ key: ben })).status).toBe(404);
    expect((await at(`/runs/${other}/webhook-deliveries`)).body.deliveries).toEqual([]);
    const webhookId = deliveries[0].webhook_id;
    expect(JSON.stringify((await at("/webhooks")).body)).not.toContain(webhookId);
    expect((await at(`/webhooks/${webhookId}`)).status).toBe(404);
    const replay = await at(`/runs/${id}/webhook-deliveries/${deliveries[1].id}/replay`, {
      method: "POST",
      key: ann,
    });
    expect([replay.status, replay.body.state]).toEqual([200, "waiting"]);
    expect((await remove(id, { key: ann })).status).toBe(204);
    expect(await harness.storage.webhooks.outbox.lock(webhookId)).toBeUndefined();
  });

  test("the secret of a run's webhook is sealed and never returned, and a retry does not copy the webhook", async () => {
    const created = await call(harness, RUNS, { body: { prompt: "do it", webhook: WEBHOOK } });
    const { run_id: id } = created.body;
    const [endpoint] = await harness.storage.webhooks.runEndpoints.list([id]);
    const retry = (await at(`/runs/${id}/retry`, { method: "POST" })).body.run_id;

    expect(endpoint?.secrets[0]?.sealed).toMatch(/^v1\./);
    for (const text of [created.text, (await at(`/runs/${id}`)).text, harness.logged.join("\n")]) {
      expect(text).not.toContain(SECRET);
    }
    expect(await harness.storage.webhooks.runEndpoints.list([retry])).toEqual([]);
  });

  test.each([
    [{ ...WEBHOOK, url: "https://127.0.0.1/" }],
    [{ ...WEBHOOK, secret: "whsec_c2hvcnQ=" }],
    [{ ...WEBHOOK, secret: "secret" }],
    [{ url: WEBHOOK.url }],
  ])("a run with an invalid webhook is refused (%#)", async (webhook) => {
    expect((await call(harness, RUNS, { body: { prompt: "do it", webhook } })).status).toBe(400);
  });
});

describe("notices", () => {
  async function aDeadNotice() {
    const runId = await createRun(harness);
    const thread = aThread();
    await harness.edit(runId, (edit) => edit.bind({ thread, expected: undefined }));
    const { outbox } = harness.storage;
    const card = (await outbox.take(thread.id)) ?? expect.fail("There is no card.");
    await outbox.sent(card.id, "receipt", "https://chat.example/1");
    await harness.edit(runId, (edit) => edit.notices.post(aReply("hello"), thread.id));
    const reply = (await outbox.take(thread.id)) ?? expect.fail("There is no reply.");
    await outbox.failed(reply.id, "Thrown out.");
    return { id: reply.id, card: card.id, runId, threadId: thread.id };
  }

  test("notices are listed with their delivery, newest first, and filtered", async () => {
    const { card, id, runId, threadId } = await aDeadNotice();

    const { body } = await at(`/notices?thread_id=${threadId}`);

    const common = { run_id: runId, thread_id: threadId, attempts: 1, created_at: expect.any(String) };
    expect(body.notices).toEqual([
      { ...common, id, kind: "other", state: "dead", error: "Thrown out." },
      {
        ...{ ...common, id: card, kind: "card", state: "delivered" },
        ...{ delivered_at: expect.any(String), permalink: "https://chat.example/1" },
      },
    ]);
    expect((await at(`/notices?run_id=${runId}&state=dead`)).body.notices).toHaveLength(1);
    const page = (await at(`/notices?run_id=${runId}&limit=1`)).body;
    const rest = await at(`/notices?run_id=${runId}&limit=1&cursor=${page.page_info.next_cursor}`);
    expect([page.notices[0].id, rest.body.notices[0].id]).toEqual([id, card]);
    expect(JSON.stringify(body)).not.toContain("hello");
    expect((await at("/notices", { key: ann })).status).toBe(403);
  });

  test("a dead notice is delivered again once, whatever else happens at the same time", async () => {
    const { card, id, threadId } = await aDeadNotice();
    const { outbox } = harness.storage;

    const [first, second, early] = await Promise.all([
      at(`/notices/${id}/retry`, { method: "POST" }),
      at(`/notices/${id}/retry`, { method: "POST" }),
      outbox.take(threadId),
    ]);
    const taken = early ?? (await outbox.take(threadId)) ?? expect.fail("It is not due.");
    await outbox.sent(taken.id, "receipt");

    expect([first.status, second.status].sort()).toEqual([202, 409]);
    // The adapter must look for the message of the earlier try, and the tries begin anew.
    expect([taken.id, taken.maybeShown, taken.tries]).toEqual([id, true, 0]);
    expect(await outbox.take(threadId)).toBeUndefined();
    const refused = await at(`/notices/${card}/retry`, { method: "POST" });
    expect([refused.status, refused.headers.get("x-should-retry")]).toEqual([409, "false"]);
    expect((await at(`/notices/${randomUUID()}/retry`, { method: "POST" })).status).toBe(404);
  });

  test("a dead card with a newer card is replaced and not shown again", async () => {
    const { runId, threadId } = await aDeadNotice();
    const { outbox } = harness.storage;
    await harness.edit(runId, (edit) => edit.moveTo("PENDING"));
    const dead = (await outbox.take(threadId)) ?? expect.fail("There is no card.");
    await outbox.failed(dead.id, "Thrown out.");
    await harness.edit(runId, (edit) => edit.moveTo("CLAIMED"));
    const newer = (await outbox.take(threadId)) ?? expect.fail("There is no card.");
    await outbox.sent(newer.id, "receipt");

    const { body, status } = await at(`/notices/${dead.id}/retry`, { method: "POST" });

    expect([status, body.state]).toEqual([202, "replaced"]);
    expect(await outbox.take(threadId)).toBeUndefined();
  });
});

describe("a failed inbox event", () => {
  test("a failed event is processed once more, before later events of its conversation", async () => {
    const { inbox } = harness.storage;
    const orderingKey = randomUUID();
    const [failed, later] = [anInboxEvent({ orderingKey }), anInboxEvent({ orderingKey })];
    await inbox.put(failed);
    await inbox.put(later);
    await inbox.complete({
      inboxId: failed.id,
      disposition: "failed",
      reason: "It broke.",
      teamId: FIRST_TEAM,
    });
    const retry = (id: string) => at(`/inbox/${id}/retry`, { method: "POST" });

    const answers = await Promise.all([retry(failed.id), retry(failed.id)]);

    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409]);
    expect(answers.find(({ status }) => status === 202)?.body).toMatchObject({
      id: failed.id,
      disposition: null,
    });
    expect((await inbox.next(orderingKey))?.id).toBe(failed.id);
    expect((await retry(later.id)).headers.get("x-should-retry")).toBe("false");
    expect((await retry(randomUUID())).status).toBe(404);
  });
});
