import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunId, TeamId } from "../../../src/core/basics/ids.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import type { Disposition } from "../../../src/core/ports/stores/inbox-store.ts";
import { anInboxEvent, aThread } from "../../support/run-builders.ts";
import { call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const THREADS = "/api/v1/agent/threads";
const INBOX = "/api/v1/agent/inbox";

let harness: ApiHarness;
let ann: string;
let ben: string;
beforeAll(async () => {
  harness = await startHarness();
  [ann, ben] = [await harness.addUser("ann"), await harness.addUser("ben")];
});
afterAll(() => harness.close());

describe("the threads of a run", () => {
  test("the threads of a run are listed with their place and whether replies still reach the run", async () => {
    const [old, next] = [await createRun(harness), await createRun(harness)];
    const thread = aThread({ adapter: "slack", installation: "T1" });
    await harness.edit(old, (edit) => edit.bind({ thread, expected: undefined }));
    await harness.edit(next, (edit) => edit.bind({ thread, expected: old as RunId }));
    const of = async (id: string) => (await call(harness, `${THREADS}?run_id=${id}`)).body.threads;

    const item = {
      id: thread.id,
      integration: "slack",
      installation: "T1",
      verbosity: "normal",
      created_at: expect.any(String),
    };
    expect(await of(old)).toEqual([{ ...item, run_id: old, is_current: false }]);
    expect(await of(next)).toEqual([{ ...item, run_id: next, is_current: true }]);
    expect(await of(await createRun(harness))).toEqual([]);
  });

  test("a thread says until when a message of the run waits, because the platform limits how much is posted", async () => {
    const { runId, thread } = await aBoundRun();
    const message = { kind: "message", text: "Done.", purpose: "answer" } as const;
    await harness.edit(runId, (edit) => edit.notices.post(message, thread.id));
    const limit = { key: "minute", name: "minute", counts: ["post"], per: "installation", burst: 1 } as const;
    const limitsOf = () => [{ ...limit, everyMs: 120_000, writes: 1 }];
    const of = async () => (await call(harness, `${THREADS}?run_id=${runId}`)).body.threads;
    const card = await harness.storage.outbox.take(thread.id, limitsOf);
    await harness.storage.outbox.sent(card?.id ?? "", "there");
    expect(await of()).not.toMatchObject([{ held: expect.anything() }]);

    expect(await harness.storage.outbox.take(thread.id, limitsOf)).toBeUndefined();

    const held = { kind: "answer", until: expect.stringMatching(/^20/) };
    expect(await of()).toMatchObject([{ id: thread.id, held }]);
    const { notices } = (await call(harness, `/api/v1/agent/notices?run_id=${runId}&state=pending`)).body;
    expect(notices).toMatchObject([{ kind: "answer", held_until: held.until }]);
  });

  test("the threads of a hidden run are not found", async () => {
    const { runId, thread } = await aBoundRun({ team: false });
    const patch = (key: string) =>
      call(harness, `${THREADS}/${thread.id}`, { method: "PATCH", body: { verbosity: "quiet" }, key });

    const statuses = [
      (await call(harness, `${THREADS}?run_id=${runId}`, { key: ben })).status,
      (await call(harness, `${THREADS}?run_id=${randomUUID()}`)).status,
      (await call(harness, THREADS)).status,
      (await patch(ben)).status,
      (await patch(ann)).status,
    ];

    expect(statuses).toEqual([404, 404, 400, 404, 200]);
  });

  test("a thread can be made quiet and verbose again", async () => {
    const { runId, thread } = await aBoundRun();
    const patch = (body: object) => call(harness, `${THREADS}/${thread.id}`, { method: "PATCH", body });

    const quiet = await patch({ verbosity: "quiet" });
    await harness.edit(runId, (edit) => edit.moveTo("PENDING"));
    const meanwhile = await cardsOf(thread.id);
    const normal = await patch({ verbosity: "normal" });
    await harness.edit(runId, (edit) => edit.moveTo("CLAIMED"));

    expect([quiet.status, quiet.body.verbosity, quiet.body.run_id]).toEqual([200, "quiet", runId]);
    expect(normal.body.verbosity).toBe("normal");
    expect(meanwhile).toBe("QUEUED");
    expect(await cardsOf(thread.id)).toBe("CLAIMED");
    expect((await patch({ verbosity: "silent" })).status).toBe(400);
  });

  test("a follow-up over the API is announced in the threads unless it is private", async () => {
    const { runId, thread } = await aBoundRun();
    const say = (message: string, more: object = {}) =>
      call(harness, `/api/v1/agent/runs/${runId}/followups`, { key: ann, body: { message, ...more } });

    await say("one");
    await say("two", { visibility: "private" });
    await say("three", { visibility: "thread" });

    const notices = await noticesOf(thread.id);
    expect(notices.filter(({ kind }) => kind === "message")).toMatchObject([
      { purpose: "reply", text: "ann asked over the API: one" },
      { purpose: "reply", text: "ann asked over the API: three" },
    ]);
  });
});

describe("the inbox", () => {
  test("the inbox lists events and their results, newest first, without their text", async () => {
    const runId = (await createRun(harness)) as RunId;
    const newRunEvent = await completedEvent("run_created", { runId, teamId: FIRST_TEAM });
    const refused = await completedEvent("refused", { teamId: FIRST_TEAM, reason: "You may not." });
    const open = await anEvent();

    const { body } = await call(harness, `${INBOX}?limit=3`);

    const item = { integration: "memory", name: "message", received_at: expect.any(String) };
    expect(body.events).toEqual([
      { ...item, id: open, disposition: null },
      { ...item, id: refused, disposition: "refused", reason: "You may not." },
      { ...item, id: newRunEvent, disposition: "run_created", run_id: runId },
    ]);
    expect(JSON.stringify(body)).not.toContain("said in confidence");
  });

  test("the inbox can be filtered by disposition, integration and run", async () => {
    const runId = (await createRun(harness)) as RunId;
    const newRunEvent = await completedEvent("run_created", { runId, teamId: FIRST_TEAM }, "github");
    const steered = await completedEvent("follow_up", { runId, teamId: FIRST_TEAM });
    const open = await anEvent("github");
    const ids = async (query: string) =>
      (await call(harness, `${INBOX}?${query}`)).body.events.map(({ id }: { id: string }) => id);

    expect(await ids(`run_id=${runId}`)).toEqual([steered, newRunEvent]);
    expect(await ids(`run_id=${runId}&integration=github`)).toEqual([newRunEvent]);
    expect(await ids("disposition=follow_up")).toEqual([steered]);
    expect(await ids("disposition=open&integration=github")).toEqual([open]);
    expect(await ids("run_id=nonsense")).toEqual([]);
    expect((await call(harness, `${INBOX}?disposition=eaten`)).status).toBe(400);
  });

  test("the inbox is paginated while new events arrive", async () => {
    const ids = [];
    for (let count = 0; count < 5; count += 1) {
      ids.unshift(await completedEvent("replied", { teamId: FIRST_TEAM }));
    }
    const seen: string[] = [];

    let cursor = "";
    do {
      const { body } = await call(harness, `${INBOX}?disposition=replied&limit=2${cursor}`);
      seen.push(...body.events.map(({ id }: { id: string }) => id));
      await completedEvent("replied", { teamId: FIRST_TEAM });
      cursor = body.page_info.has_next_page ? `&cursor=${body.page_info.next_cursor}` : "";
    } while (cursor !== "");

    expect(seen).toEqual(ids);
  });

  test.each(["NEXT&integration=other", "NEXT.junk", "NEXT.", "1.x", "x", "99999.AAAA"])(
    "the inbox refuses the damaged cursor %j",
    async (damaged) => {
      for (const _ of [1, 2]) {
        await completedEvent("replied", { teamId: FIRST_TEAM });
      }
      const { body } = await call(harness, `${INBOX}?limit=1`);
      const cursor = damaged.replace("NEXT", body.page_info.next_cursor);

      const answer = await call(harness, `${INBOX}?limit=1&cursor=${cursor}`);

      expect([answer.status, answer.body.issues[0].path]).toEqual([400, "cursor"]);
    },
  );

  test("the inbox shows administrators the events of their team, and operators also those of no team", async () => {
    const teamId = randomUUID() as TeamId;
    await harness.storage.teams.put({ id: teamId, name: teamId, createdAt: new Date(), sharing: "off" });
    const key = await harness.addUser("chief", { teamId, scopes: ["admin"] });
    const chief = await harness.storage.people.ensure(teamId, "test:chief", undefined);
    await harness.storage.people.put({ ...chief, administrator: true });
    const [theirs, ours, nobodys] = [
      await completedEvent("replied", { teamId }),
      await completedEvent("replied", { teamId: FIRST_TEAM }),
      await completedEvent("ignored", {}),
    ];
    const ids = async (as: string) =>
      (await call(harness, `${INBOX}?limit=3`, { key: as })).body.events.map(({ id }: { id: string }) => id);

    expect(await ids(key)).toEqual([theirs]);
    expect((await ids(harness.key)).slice(0, 2)).toEqual([nobodys, ours]);
    expect((await call(harness, INBOX, { key: ann })).status).toBe(403);
  });
});

async function aBoundRun(request: object = {}) {
  const runId = await createRun(harness, request, { key: ann });
  const thread = aThread();
  await harness.edit(runId, (edit) => edit.bind({ thread, expected: undefined }));
  return { runId, thread };
}

async function anEvent(adapter = "memory"): Promise<string> {
  const event = anInboxEvent({ adapter, body: '{"text":"said in confidence"}' });
  await harness.storage.inbox.put(event);
  return event.id;
}

async function completedEvent(
  disposition: Disposition,
  more: { readonly runId?: RunId; readonly teamId?: TeamId; readonly reason?: string },
  adapter?: string,
): Promise<string> {
  const inboxId = await anEvent(adapter);
  await harness.storage.inbox.complete({ inboxId, disposition, ...more });
  return inboxId;
}

interface RecordedUpdate {
  readonly kind: string;
  readonly card?: { readonly state: string };
}

/** Returns the unsent notices of a thread in order. Cards are not merged with older ones yet. */
async function noticesOf(threadId: string): Promise<readonly RecordedUpdate[]> {
  const updates: RecordedUpdate[] = [];
  for (
    let next = await harness.storage.outbox.take(threadId);
    next;
    next = await harness.storage.outbox.take(threadId)
  ) {
    updates.push(next.notice as RecordedUpdate);
    await harness.storage.outbox.sent(next.id, "receipt");
  }
  return updates;
}

/** Returns the state on the newest card since the last call. */
async function cardsOf(threadId: string): Promise<string | undefined> {
  return (await noticesOf(threadId)).findLast(({ kind }) => kind === "card")?.card?.state;
}
