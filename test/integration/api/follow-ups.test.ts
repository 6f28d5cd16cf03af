import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LeaseToken, newId, type RunId } from "../../../src/core/basics/ids.ts";
import { decideTurnEnd, decideTurnStart } from "../../../src/core/work/context/decide-attempt.ts";
import { wholeLog } from "../../support/whole-log.ts";
import { call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const RUNS = "/api/v1/agent/runs";
const OPTIONS = [
  { optionId: "always", name: "Always allow", kind: "allow_always" },
  { optionId: "once", name: "Allow", kind: "allow_once" },
  { optionId: "no", name: "Reject", kind: "reject_once" },
] as const;

let harness: ApiHarness;
let ann: string;
let ben: string;
beforeAll(async () => {
  harness = await startHarness();
  [ann, ben] = [await harness.addUser("ann"), await harness.addUser("ben")];
});
afterAll(() => harness.close());

async function send(run: string, message: string, more: object = {}): Promise<string> {
  const answer = await call(harness, `${RUNS}/${run}/followups`, { body: { message, ...more }, key: ann });
  return answer.body.followup_id;
}

async function listed(run: string, query = "") {
  return (await call(harness, `${RUNS}/${run}/followups${query}`, { key: ben })).body;
}

function rewrite(run: string, id: string, message: string, more: object = {}) {
  const path = `${RUNS}/${run}/followups/${id}`;
  return call(harness, path, { method: "PATCH", body: { message }, key: ann, ...more });
}

function withdraw(run: string, id: string, more: object = {}) {
  return call(harness, `${RUNS}/${run}/followups/${id}`, { method: "DELETE", key: ann, ...more });
}

/** Rows and events have times of different clocks. */
function withoutTimes(steps: unknown): string {
  return JSON.stringify(steps, (name, value: unknown) => (name === "timestamp" ? undefined : value));
}

async function startTurn(run: string): Promise<readonly string[]> {
  let taken: readonly string[] = [];
  await harness.edit(run, (edit) => {
    if (edit.run.state === "QUEUED") {
      edit.grantLease({ token: newId<LeaseToken>(new Date()), worker: "w", ttlMs: 60_000 });
      edit.moveTo("PENDING");
      edit.moveTo("CLAIMED");
    }
    taken = (decideTurnStart(edit, false, edit.run)?.followUps ?? []).map(({ message }) => message);
  });
  return taken;
}

async function endTurn(run: string): Promise<void> {
  await harness.edit(run, (edit) => {
    decideTurnEnd(edit, { stopReason: "end_turn" }, "Done.");
    edit.dropLease();
  });
}

async function kindsOf(run: string) {
  return (await wholeLog(harness.runs, run as RunId)).map(({ body }) => body.kind);
}

describe("the follow-ups of a run", () => {
  test("a list of long follow-ups has more pages, which together have all of them", async () => {
    const run = await createRun(harness);
    const sent: string[] = [];
    for (let count = 0; count < 17; count += 1) {
      sent.push(await send(run, "x".repeat(256 * 1_024)));
    }

    const first = await listed(run, "?limit=500");
    const rest = await listed(run, `?limit=500&cursor=${first.page_info.next_cursor}`);

    const ids = [first, rest].map(({ followups }) =>
      followups.map(({ followup_id }: { followup_id: string }) => followup_id),
    );
    expect(ids).toEqual([sent.slice(0, 16), sent.slice(16)]);
    expect([first, rest].map(({ page_info }) => page_info.has_next_page)).toEqual([true, false]);
  });

  test("follow-ups are listed with the oldest first, page by page", async () => {
    const run = await createRun(harness);
    const ids = [await send(run, "one"), await send(run, "two", { visibility: "private", mode: "plan" })];
    ids.push(await send(run, "three", { delivery: "steer" }));

    const first = await listed(run, "?limit=2");
    const second = await listed(run, `?limit=2&cursor=${first.page_info.next_cursor}`);

    expect(first.followups).toEqual([
      {
        followup_id: ids[0],
        message: "one",
        author: expect.objectContaining({ type: "user", display_name: "ann" }),
        source: "API",
        created_at: expect.stringMatching(/Z$/),
        delivery: "queue",
        visibility: "thread",
        status: "held",
      },
      expect.objectContaining({ followup_id: ids[1], visibility: "private", mode: "plan" }),
    ]);
    expect(first.page_info.has_next_page).toBe(true);
    expect(second.followups).toMatchObject([{ followup_id: ids[2], delivery: "steer" }]);
    expect(second.page_info).toEqual({ has_next_page: false });
    expect((await call(harness, `${RUNS}/${run}/followups?cursor=x`)).status).toBe(400);
  });

  test("a rewritten follow-up is given with its new words, and a withdrawn one is never given", async () => {
    const run = await createRun(harness);
    const [kept, gone] = [await send(run, "old words"), await send(run, "never mind")];

    const rewritten = await rewrite(run, kept, "new words");
    const withdrawn = await withdraw(run, gone);
    const taken = await startTurn(run);

    expect([rewritten.status, rewritten.body]).toEqual([
      200,
      expect.objectContaining({ message: "new words", status: "held", edited_at: expect.any(String) }),
    ]);
    expect([withdrawn.status, withdrawn.text]).toEqual([204, ""]);
    expect(taken).toEqual(["new words"]);
    expect((await listed(run)).followups).toMatchObject([
      { followup_id: kept, status: "given", turn: 1 },
      { followup_id: gone, status: "withdrawn" },
    ]);
    expect((await kindsOf(run)).filter((kind) => kind.startsWith("followup."))).toEqual([
      "followup.received",
      "followup.received",
      "followup.edited",
      "followup.withdrawn",
    ]);
  });

  test("a follow-up that was given or withdrawn can no longer be changed", async () => {
    const run = await createRun(harness);
    const [given, gone] = [await send(run, "one"), await send(run, "two")];
    await withdraw(run, gone);
    await startTurn(run);

    const answers = [
      await rewrite(run, given, "x"),
      await withdraw(run, given),
      await rewrite(run, gone, "x"),
      await withdraw(run, gone),
    ];

    expect(answers.map(({ status, body }) => [status, body.code, body.retryable])).toEqual(
      answers.map(() => [409, "conflict", false]),
    );
  });

  test("only its author and administrators change a follow-up", async () => {
    const run = await createRun(harness);
    const id = await send(run, "one");

    const statuses = [
      (await rewrite(run, id, "x", { key: ben })).status,
      (await withdraw(run, id, { key: ben })).status,
      (await rewrite(run, id, "x", { key: harness.key })).status,
      (await rewrite(run, id, " ")).status,
      (await rewrite(run, newId(new Date()), "x")).status,
      (await withdraw(await createRun(harness), id)).status,
    ];

    expect(statuses).toEqual([403, 403, 200, 400, 404, 404]);
  });

  test("a repeated change with an idempotency key gets the first answer", async () => {
    const run = await createRun(harness);
    const id = await send(run, "one");
    const key = (name: string) => ({ headers: { "idempotency-key": `${name} ${id}` } });

    const rewrites = [await rewrite(run, id, "two", key("r")), await rewrite(run, id, "two", key("r"))];
    const ends = [await withdraw(run, id, key("w")), await withdraw(run, id, key("w"))];

    expect(rewrites[1]?.body).toEqual(rewrites[0]?.body);
    expect(ends.map(({ status }) => status)).toEqual([204, 204]);
    expect(ends[1]?.headers.get("idempotent-replay")).toBe("true");
    expect((await kindsOf(run)).filter((kind) => kind === "followup.edited")).toHaveLength(1);
  });

  test("a withdrawal and the turn that takes the follow-up never both succeed", async () => {
    for (let round = 0; round < 5; round += 1) {
      const run = await createRun(harness);
      const id = await send(run, "one");

      const [taken, withdrawn] = await Promise.all([startTurn(run), withdraw(run, id)]);

      expect([taken, withdrawn.status]).toEqual(withdrawn.status === 204 ? [[], 204] : [["one"], 409]);
    }
  });

  test("a run that was continued only for a withdrawn follow-up is cancelled", async () => {
    const run = await createRun(harness);
    await startTurn(run);
    await endTurn(run);
    const [first, second] = [await send(run, "more"), await send(run, "and more")];

    await withdraw(run, first);
    const between = (await call(harness, `${RUNS}/${run}`)).body.state;
    await withdraw(run, second);

    expect(between).toBe("QUEUED");
    expect((await call(harness, `${RUNS}/${run}`)).body).toMatchObject({
      state: "CANCELLED",
      status_message: { message: "The follow-up was withdrawn." },
    });
  });

  test("a follow-up that interrupts the turn cannot be withdrawn", async () => {
    const run = await createRun(harness);
    await startTurn(run);
    const id = await send(run, "stop that", { delivery: "interrupt" });

    expect([(await withdraw(run, id)).status, (await rewrite(run, id, "stop this")).status]).toEqual([
      409, 200,
    ]);
  });
});

describe("a follow-up to a run that asks a question", () => {
  async function askingRun(): Promise<string> {
    const run = await createRun(harness);
    await startTurn(run);
    const permission = { permissionId: "p", title: "Delete it?", options: OPTIONS };
    await harness.edit(run, (edit) => {
      edit.set({ permission: { ...permission, askedAt: edit.now } });
      edit.record({ kind: "permission.requested", request: permission });
      edit.moveTo("BLOCKED");
    });
    return run;
  }

  test.each([
    ["yes please", "once"],
    ["ok, do it", "once"],
    ["No, thanks.", "no"],
    ["always ALLOW", "always"],
  ])("the text %j is an answer and makes no follow-up", async (message, answered) => {
    const run = await askingRun();

    const { body } = await call(harness, `${RUNS}/${run}/followups`, { body: { message } });

    expect(body).toEqual({ state: "INPROGRESS", outcome: "live_session", followup_id: null, answered });
    expect((await listed(run)).followups).toEqual([]);
  });

  test("any other text is held as the next follow-up, and the question stays open", async () => {
    const run = await askingRun();

    const { body } = await call(harness, `${RUNS}/${run}/followups`, { body: { message: "yes, but why?" } });
    const after = (await call(harness, `${RUNS}/${run}`)).body;

    expect(body).toEqual({
      state: "BLOCKED",
      outcome: "queue_pending",
      followup_id: expect.any(String),
      question_open: true,
    });
    expect([after.state, after.permission.permission_id]).toEqual(["BLOCKED", "p"]);
    expect((await listed(run)).followups).toMatchObject([{ message: "yes, but why?", status: "held" }]);
    expect(await kindsOf(run)).not.toContain("permission.answered");
  });

  test("an answer after the agent was given up is not listed as a follow-up", async () => {
    const run = await askingRun();
    await harness.edit(run, (edit) => edit.dropLease());

    const { body } = await call(harness, `${RUNS}/${run}/followups`, { body: { message: "yes" } });

    expect(body).toEqual({ state: "QUEUED", outcome: "queue_pending", followup_id: null, answered: "once" });
    expect((await listed(run)).followups).toEqual([]);
    expect(await startTurn(run)).toEqual(["You asked: Delete it?. The answer: Allow."]);
  });
});

describe("the last steps of a conversation", () => {
  test("a conversation is read from its end, step by step, with the words that each step took", async () => {
    const first = await createRun(harness, { prompt: "one" });
    await startTurn(first);
    await send(first, "two");
    await harness.edit(first, (edit) => {
      decideTurnEnd(edit, { stopReason: "end_turn" }, "Done one.");
    });
    await startTurn(first);
    await endTurn(first);
    const { conversation_id } = (await call(harness, `${RUNS}/${first}`)).body;
    const second = await createRun(harness, { conversation_id, prompt: "three" });
    await send(second, "four");
    const whole = (await call(harness, `${RUNS}/${first}/conversation`)).body;
    const page = async (query: string) =>
      (await call(harness, `${RUNS}/${first}/conversation?${query}`)).body;

    const last = await page("limit=2");
    const middle = await page(`limit=1&before=${last.steps[0].id}`);
    const start = await page(`limit=1&before=${middle.steps[0].id}`);

    expect(whole.steps.map(({ description }: { description: string }) => description)).toEqual([
      "one",
      "two",
      "three",
      "four",
    ]);
    const parts = [...start.steps, ...middle.steps, ...last.steps];
    expect(withoutTimes(parts)).toEqual(withoutTimes(whole.steps));
    expect([whole, last, middle, start].map(({ has_more_before }) => has_more_before)).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });

  test.each(["x", `${newId(new Date())}:1`])("the steps before %s are a bad request", async (before) => {
    const run = await createRun(harness);

    const answer = await call(harness, `${RUNS}/${run}/conversation?before=${before}`);

    expect([answer.status, answer.body.code]).toEqual([400, "invalid_request"]);
  });
});
