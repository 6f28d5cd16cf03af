import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunId } from "../../../src/core/basics/ids.ts";
import { type Answer, type Call, call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const STREAMS = 3;

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness({ limits: { streamsPerPrincipal: STREAMS } });
});
afterAll(() => harness.close());

const get = (id: string, query = "", options: Call = {}, of = harness) =>
  call(of, `/api/v1/agent/runs/${id}${query}`, options);

/** A request that is not answered before `change`, whatever happens to other runs. */
async function answeredBy(waiting: Promise<Answer>, change: () => Promise<unknown>): Promise<Answer> {
  let isAnswered = false;
  void waiting.finally(() => {
    isAnswered = true;
  });
  const other = await createRun(harness);
  await harness.edit(other as RunId, (edit) => edit.moveTo("CANCELLED"));
  await get(other, "?wait=50");
  expect(isAnswered).toBe(false);
  await change();
  return waiting;
}

describe("a request that waits for its run", () => {
  test.each([
    ["has ended", "CANCELLED"],
    ["is BLOCKED", "BLOCKED"],
  ] as const)("is answered when it %s", async (_what, state) => {
    const id = await createRun(harness);

    const change = () =>
      harness.edit(id as RunId, (edit) => {
        if (state === "BLOCKED") {
          edit.moveTo("PENDING");
          edit.moveTo("CLAIMED");
          edit.moveTo("INPROGRESS");
        }
        edit.moveTo(state);
      });
    const answer = await answeredBy(get(id, "?wait=50"), change);

    expect([answer.status, answer.body.state]).toEqual([200, state]);
    expect((await get(id, "?wait=50")).body.state).toBe(state);
  });

  test("is answered with what is there when its time is over", async () => {
    const id = await createRun(harness);

    const byQuery = await get(id, "?wait=1");
    const byHeader = await get(id, "", { headers: { prefer: "respond-async, wait=1" } });

    expect([byQuery.body.state, byQuery.headers.get("preference-applied")]).toEqual(["QUEUED", null]);
    expect([byHeader.body.state, byHeader.headers.get("preference-applied")]).toEqual(["QUEUED", "wait=1"]);
  });

  test("waits at most 50 seconds, because clients give up after 60", async () => {
    const id = await createRun(harness);
    const change = () => harness.edit(id as RunId, (edit) => edit.moveTo("CANCELLED"));

    const answer = await answeredBy(get(id, "", { headers: { prefer: "wait=600" } }), change);

    expect(answer.headers.get("preference-applied")).toBe("wait=50");
  });

  test("is answered at once without a wait: other preferences, and a run that does not exist", async () => {
    const id = await createRun(harness);

    for (const prefer of ["wait=0", "wait=x", "wait", "handling=lenient", "nowait=9"]) {
      const answer = await get(id, "", { headers: { prefer } });
      expect([answer.status, answer.headers.get("preference-applied")]).toEqual([200, null]);
    }
    expect((await get(randomUUID(), "?wait=50")).status).toBe(404);
  });

  test.each(["0", "-1", "x", "1.5"])("is refused with wait=%s", async (wait) => {
    const id = await createRun(harness);

    expect((await get(id, `?wait=${wait}`)).status).toBe(400);
  });

  test("counts as an open stream of its caller until it is answered", async () => {
    const id = await createRun(harness);
    const key = await harness.addUser("waits");
    const waiting = Array.from({ length: STREAMS + 1 }, () => get(id, "?wait=50", { key }));

    expect((await Promise.race(waiting)).status).toBe(429);
    await harness.edit(id as RunId, (edit) => edit.moveTo("CANCELLED"));

    const statuses = (await Promise.all(waiting)).map(({ status }) => status).toSorted();
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect((await get(id, "?wait=50", { key })).status).toBe(200);
  });

  test("is refused when its key is revoked meanwhile", async () => {
    const id = await createRun(harness);
    const admin = "/api/v1/agent/keys";
    const made = (await call(harness, admin, { body: { name: "short" } })).body;

    const answer = await answeredBy(get(id, "?wait=50", { key: made.key }), () =>
      call(harness, `${admin}/${made.id}`, { method: "DELETE" }),
    );

    expect(answer.status).toBe(401);
  });

  test("is answered when the server stops", async () => {
    const stopping = await startHarness();
    const id = await createRun(stopping);
    const isHeld = new Promise<void>((resolve) => {
      const { pubsub } = stopping;
      const subscribe = pubsub.subscribe.bind(pubsub);
      pubsub.subscribe = (channel, listener) => {
        if (channel.includes(id)) {
          resolve();
        }
        return subscribe(channel, listener);
      };
    });
    const waiting = get(id, "?wait=50", {}, stopping);
    await isHeld;

    await stopping.close();

    expect((await waiting).body.state).toBe("QUEUED");
  });
});

describe("only some members of a run", () => {
  test("are in the answers of get and list", async () => {
    const id = await createRun(harness);

    const one = await get(id, "?fields=run_id, state");
    const many = await call(harness, `/api/v1/agent/runs?limit=2&fields=run_id`);

    expect(one.body).toEqual({ run_id: id, state: "QUEUED" });
    expect(many.body.runs.map(Object.keys)).toEqual([["run_id"], ["run_id"]]);
    expect(many.body.page_info.next_cursor).toEqual(expect.any(String));
  });

  test.each([
    ["colour", "colour"],
    ["run_id,,state", ""],
    ["__proto__", "__proto__"],
    ["run_id,agent_config.name", "agent_config.name"],
  ])("%j is refused, because it names no member", async (fields, unknown) => {
    for (const path of [
      `/api/v1/agent/runs?fields=${fields}`,
      `/api/v1/agent/runs/${await createRun(harness)}?fields=${fields}`,
    ]) {
      const answer = await call(harness, path);
      expect([answer.status, answer.body.issues?.[0]]).toEqual([
        400,
        { path: "fields", message: expect.stringContaining(unknown) },
      ]);
    }
  });
});
