import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Call, call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const RUNS = "/api/v1/agent/runs";

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const cancel = (filter: unknown, expected: unknown, options: Call = {}) =>
  call(harness, `${RUNS}/cancel`, { ...options, body: { filter, expected } });
const stateOf = async (id: string) => (await call(harness, `${RUNS}/${id}`)).body.state;

async function someRuns(count: number, body: object = {}): Promise<{ ticket: string; ids: string[] }> {
  const ticket = randomUUID();
  const runs = Array.from({ length: count }, () => ({ prompt: "x", metadata: { ticket }, ...body }));
  const answers = [];
  for (let at = 0; at < count; at += 50) {
    answers.push(await call(harness, `${RUNS}/batch`, { body: { runs: runs.slice(at, at + 50) } }));
  }
  const results = answers.flatMap((answer) => answer.body.results);
  return { ticket, ids: results.map(({ run_id }: { run_id: string }) => run_id) };
}

describe("cancelling by filter", () => {
  test("the runs that match and have not ended are cancelled, and no others", async () => {
    const { ids, ticket } = await someRuns(3);
    const other = await createRun(harness);
    const [ended = "", ...open] = ids;
    await harness.edit(ended, (edit) => edit.moveTo("CANCELLED"));

    const { body, status } = await cancel({ metadata: { ticket } }, 2);

    expect(status).toBe(200);
    expect(body.results).toHaveLength(2);
    expect(body.results).toEqual(
      expect.arrayContaining(open.map((run_id) => ({ run_id, status: "cancelled" }))),
    );
    expect(await Promise.all([...open, other].map(stateOf))).toEqual(["CANCELLED", "CANCELLED", "QUEUED"]);
  });

  test.each([
    [20, 22, 200],
    [20, 19, 200],
    [20, 18, 409],
    [2, 3, 409],
    [2, 0, 409],
  ])("of %i matching runs, %i are expected: %i", async (count, expected, status) => {
    const { ids, ticket } = await someRuns(count);

    const answer = await cancel({ metadata: { ticket } }, expected);

    expect(answer.status).toBe(status);
    const states = new Set(await Promise.all(ids.map(stateOf)));
    expect(states).toEqual(new Set([status === 200 ? "CANCELLED" : "QUEUED"]));
    if (status === 409) {
      expect(answer.body).toMatchObject({ code: "conflict", retryable: false, matching_runs: count });
      expect(answer.body.detail).toContain(`matches ${count} runs, and not ${expected}`);
    }
  });

  test("at most 200 runs are cancelled at once", async () => {
    const { ids, ticket } = await someRuns(201);
    const more = await cancel({ metadata: { ticket } }, 200);
    await call(harness, `${RUNS}/${ids[0]}/cancel`, { method: "POST" });
    const { body, status } = await cancel({ metadata: { ticket } }, 200);

    expect([more.status, more.body.matching_runs]).toEqual([409, undefined]);
    expect(more.body.detail).toContain("more than 200 runs");
    expect([status, body.results.length]).toEqual([200, 200]);
  });

  test("a repeat cancels nothing more, and with its key gets the first answer", async () => {
    const { ticket } = await someRuns(2);
    const filter = { metadata: { ticket } };
    const headers = { "idempotency-key": randomUUID() };
    const first = await cancel(filter, 2, { headers });
    await someRuns(1, { metadata: { ticket } });

    const [again, without] = [await cancel(filter, 2, { headers }), await cancel(filter, 2)];

    expect(again.body).toEqual(first.body);
    expect([without.status, without.body.matching_runs]).toEqual([409, 1]);
  });

  test("each run is cancelled by the rules for a single one", async () => {
    const { ids, ticket } = await someRuns(2);
    const [forbidden = ""] = ids;
    const config = { model_id: "guarded" };
    const guarded = await createRun(harness, { metadata: { ticket }, config });
    const match = { actions: ["cancel"], models: ["guarded"] };
    await call(harness, "/api/v1/agent/policies", { body: { name: "guarded", effect: "deny", match } });
    const hidden = await createRun(harness, { metadata: { ticket }, team: false });
    const member = await harness.addUser("member");

    const { body } = await cancel({ metadata: { ticket } }, 3, { key: member });

    const statuses = Object.fromEntries(
      body.results.map((one: { run_id: string; status: string }) => [one.run_id, one.status]),
    );
    expect(statuses[guarded]).toBe("not_authorized");
    expect(statuses[forbidden]).toBe("cancelled");
    expect(statuses).not.toHaveProperty(hidden);
    expect(await stateOf(hidden)).toBe("QUEUED");
  });

  test.each([
    ["an unknown member", { colour: "red", state: ["QUEUED"] }, 1, "filter"],
    ["an empty member", { creator: "" }, 1, "filter.creator"],
    ["an empty list", { state: [] }, 1, "filter.state"],
    ["null", { creator: null }, 1, "filter.creator"],
    ["no member", {}, 1, "filter"],
    ["a bad state", { state: ["DONE"] }, 1, "filter.state.0"],
    ["a sort", { state: ["QUEUED"], sort_by: "title" }, 1, "filter"],
    ["no number", { state: ["QUEUED"] }, undefined, "expected"],
    ["a negative number", { state: ["QUEUED"] }, -1, "expected"],
    ["no filter", undefined, 1, "run_ids"],
  ])("a request with %s is refused", async (_what, filter, expected, path) => {
    const { body, status } = await cancel(filter, expected);

    expect([status, body.code, body.issues[0].path]).toEqual([400, "invalid_request", path]);
  });

  test("ids and a filter exclude each other, and a number belongs to a filter", async () => {
    const both = { run_ids: [], filter: { state: ["QUEUED"] }, expected: 1 };
    const answers = await Promise.all(
      [both, { run_ids: [], expected: 0 }].map((body) => call(harness, `${RUNS}/cancel`, { body })),
    );

    expect(answers.map(({ status }) => status)).toEqual([400, 400]);
  });

  test("filters that nothing can match cancel nothing, and similar words are no match", async () => {
    const { ids } = await someRuns(1, { title: "deploy zanzibar" });

    const filters = [{ factory_uid: ["f"] }, { source: "X" }, { q: "zanzibra" }, { state: ["FAILED"] }];
    const answers = await Promise.all(filters.map((filter) => cancel(filter, 0)));

    expect(answers.map(({ body }) => body.results)).toEqual([[], [], [], []]);
    expect(await stateOf(ids[0] ?? "")).toBe("QUEUED");
  });
});
