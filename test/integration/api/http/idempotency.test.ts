import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { IdempotentResponse } from "../../../../src/core/ports/stores/idempotency-store.ts";
import { Database } from "../../../../src/storage/database.ts";
import { SILENT_LOG } from "../../../support/logs.ts";
import { type Answer, call, createRun } from "../api-caller.ts";
import { type ApiHarness, startHarness } from "../api-harness.ts";

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const RUNS = "/api/v1/agent/runs";

function create(key: string, body: object, caller?: string): Promise<Answer> {
  return call(harness, RUNS, { body, headers: { "idempotency-key": key }, ...(caller && { key: caller }) });
}

describe("an idempotency key", () => {
  test("a repeated key gets the first answer again, on either address of the operation", async () => {
    const first = await create("k1", { prompt: "x", metadata: { a: "1", b: "2" } });
    const second = await create('"k1"', { metadata: { b: "2", a: "1" }, prompt: "x" });
    const body = { prompt: "x", metadata: { a: "1", b: "2" } };
    const third = await call(harness, "/api/v1/agent/run", { body, headers: { "idempotency-key": "k1" } });

    expect(second.body).toEqual(first.body);
    expect(third.body).toEqual(first.body);
    expect([first, second, third].map(({ headers }) => headers.get("idempotent-replay"))).toEqual([
      null,
      "true",
      "true",
    ]);
  });

  test("an idempotency key is forgotten after a day and not earlier", async () => {
    const [old, young] = [await create("old", { prompt: "x" }), await create("young", { prompt: "x" })];
    const dayAgo = new Date(Date.now() - 24 * 3_600_000 - 1_000);
    const database = new Database({ url: harness.databaseUrl, maxConnections: 1, log: SILENT_LOG });
    await database.query((client) =>
      client.idempotentResponse.updateMany({
        where: { key: { endsWith: "old" } },
        data: { createdAt: dayAgo },
      }),
    );
    await database.close();

    expect(await harness.storage.idempotentResponses.prune()).toBe(1);
    expect(await harness.storage.idempotentResponses.prune()).toBe(0);

    const again = [await create("old", { prompt: "x" }), await create("young", { prompt: "x" })];
    expect(again[0]?.body.run_id).not.toBe(old.body.run_id);
    expect(again[1]?.body).toEqual(young.body);
  });

  test("a repeated key with another body is refused", async () => {
    await create("k2", { prompt: "x" });

    const answer = await create("k2", { prompt: "y" });

    expect([answer.status, answer.body.code]).toEqual([422, "invalid_request"]);
    expect(answer.headers.get("x-should-retry")).toBe("false");
  });

  test("the same idempotency key of another caller is a different key", async () => {
    const ann = await harness.addUser("ann");

    const [mine, anns] = [await create("k3", { prompt: "x" }), await create("k3", { prompt: "y" }, ann)];

    expect(anns.status).toBe(200);
    expect(anns.body.run_id).not.toBe(mine.body.run_id);
  });

  test("fifty concurrent requests with one key create one run and get equal answers", async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => create("k4", { prompt: "once", title: "once" })),
    );

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body.run_id)).size).toBe(1);
    expect((await call(harness, `${RUNS}?q=once`)).body.runs).toHaveLength(1);
  });

  test("the idempotency key of a refused request may be used again", async () => {
    const refused = await create("k5", { prompt: "" });
    const accepted = await create("k5", { prompt: "x" });

    expect([refused.status, accepted.status]).toEqual([400, 200]);
  });

  test("a repeated follow-up with one key is one follow-up", async () => {
    const id = await createRun(harness);
    const send = () =>
      call(harness, `${RUNS}/${id}/followups`, {
        body: { message: "more" },
        headers: { "idempotency-key": "f" },
      });

    const answers = await Promise.all([send(), send(), send()]);
    const { body } = await call(harness, `${RUNS}/${id}/events`, { headers: { accept: "application/json" } });

    expect(new Set(answers.map(({ body }) => body.followup_id)).size).toBe(1);
    expect(body.events.filter(({ kind }: { kind: string }) => kind === "followup.received")).toHaveLength(1);
  });

  test("the idempotency key of a cancel belongs to that run, and a repeat returns the bare id", async () => {
    const [one, other] = [await createRun(harness), await createRun(harness)];
    const cancel = (id: string) =>
      call(harness, `${RUNS}/${id}/cancel`, { method: "POST", headers: { "idempotency-key": "c" } });

    const [first, again, others] = [await cancel(one), await cancel(one), await cancel(other)];

    expect([first.text, again.text]).toEqual([JSON.stringify(one), JSON.stringify(one)]);
    expect(again.headers.get("idempotent-replay")).toBe("true");
    expect(others.status).toBe(422);
  });

  test.each([
    ["empty", [""]],
    ["of 256 characters", ["x".repeat(256)]],
    ["outside ASCII", ["caf\u00e9"]],
    ["sent twice", ["a", "b"]],
    ["quoted and empty", ['""']],
  ])("an idempotency key that is %s is invalid", async (_what, keys) => {
    expect(await rawCreate(keys)).toEqual({ status: 400, code: "invalid_request" });
  });

  test("an idempotency key of 255 characters is valid", async () => {
    expect((await rawCreate(["x".repeat(255)])).status).toBe(200);
  });
});

test("a concurrent duplicate without a stored answer is told to retry", async () => {
  const blind = await startHarness({
    answers: (answers) => ({
      ...answers,
      find: async (): Promise<IdempotentResponse | undefined> => undefined,
    }),
  });
  const headers = { "idempotency-key": "k" };

  await call(blind, RUNS, { body: { prompt: "x" }, headers });
  const answer = await call(blind, RUNS, { body: { prompt: "x" }, headers });
  await blind.close();

  expect([answer.status, answer.body.code, answer.headers.get("x-should-retry")]).toEqual([
    409,
    "conflict",
    "true",
  ]);
});

/** Creates a run with headers that `fetch` would not send. */
async function rawCreate(keys: readonly string[]): Promise<{ status: number | undefined; code?: string }> {
  const headers = { authorization: `Bearer ${harness.key}`, "content-type": "application/json" };
  const { promise, resolve } = Promise.withResolvers<{ status: number | undefined; code?: string }>();
  const request = httpRequest(
    `${harness.url}${RUNS}`,
    { method: "POST", agent: false, headers },
    async (response) => {
      const text = (await response.toArray()).join("");
      resolve({
        status: response.statusCode,
        ...(response.statusCode === 200 ? {} : { code: JSON.parse(text).code }),
      });
    },
  );
  request.setHeader("idempotency-key", [...keys]);
  request.end(JSON.stringify({ prompt: "x" }));
  return promise;
}
