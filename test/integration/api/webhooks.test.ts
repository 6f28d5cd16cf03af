import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newId, type TeamId } from "../../../src/core/basics/ids.ts";
import { RUN_EVENT_TYPES } from "../../../src/core/model/webhooks/webhook.ts";
import { type Answer, type Call, call } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const WEBHOOKS = "/api/v1/agent/webhooks";
const URL_OUTSIDE = "https://receiver.example/hook?token=1";

let harness: ApiHarness;
let reader: string;
let runner: string;
let stranger: string;
beforeAll(async () => {
  harness = await startHarness();
  const teamId = newId<TeamId>(new Date());
  await harness.storage.teams.put({ id: teamId, name: "others", createdAt: new Date(), sharing: "off" });
  reader = await harness.addUser("reader", { scopes: ["settings:read"] });
  runner = await harness.addUser("runner", { scopes: ["runs:write"] });
  stranger = await harness.addUser("stranger", { teamId, scopes: ["settings:write"] });
});
afterAll(() => harness.close());

const at = (path: string, options: Call = {}): Promise<Answer> =>
  call(harness, `${WEBHOOKS}${path}`, options);
const create = (body: object = {}, options: Call = {}) =>
  at("", { body: { url: URL_OUTSIDE, ...body }, ...options });
const patch = (id: string, body: object) => at(`/${id}`, { method: "PATCH", body });

async function aWebhook(body: object = {}): Promise<string> {
  const answer = await create(body);
  expect(answer.status).toBe(201);
  return answer.body.id;
}

/** Gives up the next delivery as a sender would, without sending it. */
async function giveUpNext(id: string): Promise<void> {
  const { outbox } = harness.storage.webhooks;
  const taken = (await outbox.take([])) ?? expect.fail("Nothing is due.");
  expect(taken.endpoint.id).toBe(id);
  await outbox.complete(taken, {
    state: "dead",
    tried: { durationMs: 7, status: 500, error: "It answered 500." },
  });
}

describe("a webhook", () => {
  test("a new webhook receives later events by the database clock, even if the process clock is ahead", async () => {
    harness.clock.aheadMs += 600_000;
    const { body } = await create();
    harness.clock.aheadMs -= 600_000;

    expect(Math.abs(Date.parse(body.created_at) - Date.now())).toBeLessThan(60_000);
  });

  test("a webhook is created with a secret, which is shown once", async () => {
    const created = await create({
      description: "Board",
      events: ["run.failed", "run.failed", "webhook.disabled"],
    });
    const { secret, ...webhook } = created.body;

    expect(created.status).toBe(201);
    expect(secret).toMatch(/^whsec_[A-Za-z\d+/]{43}=$/);
    expect(webhook).toEqual({
      id: expect.any(String),
      url: URL_OUTSIDE,
      description: "Board",
      events: ["run.failed", "webhook.disabled"],
      enabled: true,
      created_by: expect.any(String),
      created_at: expect.any(String),
      updated_at: webhook.created_at,
    });
    expect((await at(`/${webhook.id}`)).body).toEqual(webhook);
    expect((await at("")).body.webhooks).toContainEqual(webhook);
    expect(harness.logged.join("\n")).not.toContain(secret);
    const [stored] = (await harness.storage.webhooks.outbox.lock(webhook.id))?.secrets ?? [];
    expect(stored?.sealed).toMatch(/^v1\./);
    expect(stored?.sealed).not.toContain(secret.slice(6));
  });

  test.each([[{}], [{ events: [] }], [{ events: null }]])(
    "a webhook subscribes to all events of runs by %j",
    async (body) => {
      expect((await create(body)).body.events).toEqual(RUN_EVENT_TYPES);
    },
  );

  test.each([
    [{ url: "https://127.0.0.1/" }, "url"],
    [{ url: "https://0x7f000001/" }, "url"],
    [{ url: "https://2130706433/" }, "url"],
    [{ url: "https://[::1]/" }, "url"],
    [{ url: "https://[::ffff:10.0.0.1]/" }, "url"],
    [{ url: "https://169.254.169.254/" }, "url"],
    [{ url: "https://100.64.0.1/" }, "url"],
    [{ url: "https://localhost./" }, "url"],
    [{ url: "https://user:pass@receiver.example/" }, "url"],
    [{ url: "http://receiver.example/" }, "url"],
    [{ url: "gopher://receiver.example/" }, "url"],
    [{ url: "nothing" }, "url"],
    [{ url: "" }, "url"],
    [{ url: `https://receiver.example/${"x".repeat(2_048)}` }, "url"],
    [{ events: ["run.exploded"] }, "events.0"],
    [{ events: "run.failed" }, "events"],
    [{ description: "x".repeat(241) }, "description"],
    [{ enabled: "yes" }, "enabled"],
  ])("a webhook with %j is refused", async (body, path) => {
    const answer = await create(body);

    expect([answer.status, answer.body.code]).toEqual([400, "invalid_request"]);
    expect(answer.body.issues[0].path).toBe(path);
  });

  test("a webhook is changed member by member, and its address is checked again", async () => {
    const id = await aWebhook({ events: ["run.failed"] });

    expect((await patch(id, { description: "New", events: ["run.error"] })).body).toMatchObject({
      url: URL_OUTSIDE,
      description: "New",
      events: ["run.error"],
      enabled: true,
    });
    expect((await patch(id, { url: "https://10.0.0.1/" })).status).toBe(400);
    expect((await at(`/${id}`)).body).toMatchObject({ url: URL_OUTSIDE, description: "New" });
  });

  test("enabling a webhook that the server disabled gives it a fresh start", async () => {
    const id = await aWebhook();
    const { endpoints, outbox } = harness.storage.webhooks;
    const failingSince = new Date("2026-03-01T12:00:00.000Z");
    const stored = (await outbox.lock(id)) ?? expect.fail("It is gone.");
    await endpoints.replace({ ...stored, enabled: false, disabledReason: "Gone.", failingSince });
    const failing = { enabled: false, disabled_reason: "Gone.", failing_since: failingSince.toISOString() };
    expect((await at(`/${id}`)).body).toMatchObject(failing);
    expect((await patch(id, { description: "x" })).body).toMatchObject(failing);

    const { body } = await patch(id, { enabled: true });

    expect(body.enabled).toBe(true);
    expect(body).not.toHaveProperty("disabled_reason");
    expect(body).not.toHaveProperty("failing_since");
  });

  test("disabling a webhook discards waiting deliveries and refuses tests and replays", async () => {
    const id = await aWebhook();
    const { body: delivery } = await at(`/${id}/test`, { method: "POST" });

    await patch(id, { enabled: false });

    const { body } = await at(`/${id}/deliveries/${delivery.id}`);
    expect(body).toMatchObject({
      state: "dead",
      error: "The endpoint was switched off.",
      tries: 0,
      history: [],
    });
    for (const path of ["test", `deliveries/${delivery.id}/replay`]) {
      const answer = await at(`/${id}/${path}`, { method: "POST" });
      expect([answer.status, answer.body.code]).toEqual([422, "operation_not_supported"]);
    }
  });

  test("a webhook is deleted", async () => {
    const id = await aWebhook();

    expect((await at(`/${id}`, { method: "DELETE" })).body).toEqual({ success: true });

    expect((await at(`/${id}`)).status).toBe(404);
    expect((await at(`/${id}`, { method: "DELETE" })).status).toBe(404);
  });

  test.each([
    ["no body", ""],
    ["an empty body", {}],
    ["none", { overlap_seconds: null }],
  ])(
    "a rotated secret leaves the old one valid for a day unless the request sets an overlap: %s",
    async (_how, body) => {
      const created = await create();
      const { id } = created.body;
      const before = Date.now();

      const rotated = await at(`/${id}/rotate-secret`, { body });

      expect(rotated.status).toBe(200);
      expect(rotated.body.secret).not.toBe(created.body.secret);
      const end = Date.parse(rotated.body.previous_secret_expires_at);
      expect(end).toBeGreaterThanOrEqual(before + 86_400_000);
      expect(end).toBeLessThanOrEqual(Date.now() + 86_400_000);
      const again = await at(`/${id}/rotate-secret`, { body: { overlap_seconds: 0 } });
      expect(again.body).not.toHaveProperty("previous_secret_expires_at");
      expect((await harness.storage.webhooks.outbox.lock(id))?.secrets).toHaveLength(1);
      expect((await at(`/${id}/rotate-secret`, { body: { overlap_seconds: 604_801 } })).status).toBe(400);
    },
  );

  test("a webhook never has more than two secrets", async () => {
    const id = await aWebhook();

    for (let index = 0; index < 3; index += 1) {
      await at(`/${id}/rotate-secret`, { method: "POST" });
    }

    expect((await harness.storage.webhooks.outbox.lock(id))?.secrets).toHaveLength(2);
  });

  test("a team has at most fifty webhooks", async () => {
    const teamId = newId<TeamId>(new Date());
    await harness.storage.teams.put({ id: teamId, name: "many", createdAt: new Date(), sharing: "off" });
    const key = await harness.addUser("many", { teamId, scopes: ["settings:write"] });
    for (let index = 0; index < 50; index += 1) {
      expect((await create({}, { key })).status).toBe(201);
    }

    expect((await create({}, { key })).body.error).toMatch(/at most 50/);
  });
});

describe("a repeated write", () => {
  const under = (key: string) => ({ "idempotency-key": key });

  test("a repeated create makes one webhook and shows the same secret, which is stored sealed", async () => {
    const [first, second] = [
      await create({}, { headers: under("w1") }),
      await create({}, { headers: under("w1") }),
    ];

    expect(second.body).toEqual(first.body);
    expect([second.status, second.headers.get("idempotent-replay")]).toEqual([201, "true"]);
    const answer = await harness.storage.idempotentResponses.find(
      first.body.created_by,
      "webhooks.create w1",
    );
    expect(answer).toMatchObject({ status: 201 });
    expect(JSON.stringify(answer)).not.toContain(first.body.secret);
  });

  test("a repeated rotation, test or replay has one effect", async () => {
    const id = await aWebhook();
    const twice = async (path: string, key: string) => {
      const ask = () => at(`/${id}${path}`, { method: "POST", headers: under(key) });
      return [(await ask()).body, (await ask()).body];
    };

    const [first, second] = await twice("/rotate-secret", "w2");
    expect(second).toEqual(first);
    const [test1, test2] = await twice("/test", "w3");
    expect(test2).toEqual(test1);
    expect((await at(`/${id}/deliveries`)).body.deliveries).toHaveLength(1);
    await giveUpNext(id);
    await twice(`/deliveries/${test1.id}/replay`, "w4");
    await giveUpNext(id);
    expect((await at(`/${id}/deliveries/${test1.id}`)).body).toMatchObject({ state: "dead", tries: 2 });
  });
});

describe("the history of deliveries", () => {
  test("the history lists each delivery and its result", async () => {
    const id = await aWebhook();
    const { body: delivery, status } = await at(`/${id}/test`, { method: "POST" });
    expect([status, delivery]).toEqual([
      201,
      {
        id: expect.any(String),
        webhook_id: id,
        type: "webhook.test",
        state: "waiting",
        tries: 0,
        next_try_at: expect.any(String),
        created_at: expect.any(String),
      },
    ]);

    await giveUpNext(id);

    const { next_try_at: _due, ...stored } = delivery;
    const settled = {
      ...stored,
      state: "dead",
      tries: 1,
      error: "It answered 500.",
      settled_at: expect.any(String),
    };
    expect((await at(`/${id}/deliveries`)).body).toEqual({
      deliveries: [settled],
      page_info: { has_next_page: false },
    });
    const { body: detail } = await at(`/${id}/deliveries/${delivery.id}`);
    expect(detail).toEqual({
      ...settled,
      body: expect.any(String),
      history: [
        { number: 1, at: expect.any(String), duration_ms: 7, status: 500, error: "It answered 500." },
      ],
    });
    expect(JSON.parse(detail.body)).toMatchObject({ type: "webhook.test", data: { webhook_id: id } });
  });

  test("the history is paginated and can be filtered by state", async () => {
    const id = await aWebhook();
    for (let index = 0; index < 3; index += 1) {
      await at(`/${id}/test`, { method: "POST" });
    }
    await giveUpNext(id);
    const ids = (answer: Answer) => answer.body.deliveries.map((delivery: { id: string }) => delivery.id);
    const all = ids(await at(`/${id}/deliveries`));

    const first = await at(`/${id}/deliveries?limit=2`);
    const second = await at(`/${id}/deliveries?limit=2&cursor=${first.body.page_info.next_cursor}`);

    expect([first.body.page_info.has_next_page, second.body.page_info.has_next_page]).toEqual([true, false]);
    expect([...ids(first), ...ids(second)]).toEqual(all);
    expect(ids(await at(`/${id}/deliveries?state=dead`))).toHaveLength(1);
    expect(ids(await at(`/${id}/deliveries?state=waiting`))).toHaveLength(2);
    for (const bad of ["state=odd", "limit=0", "limit=101", "cursor=x"]) {
      expect((await at(`/${id}/deliveries?${bad}`)).status).toBe(400);
    }
    await at(`/${id}`, { method: "DELETE" });
  });

  test("the history is paginated within one state", async () => {
    const id = await aWebhook();
    for (let index = 0; index < 3; index += 1) {
      await at(`/${id}/test`, { method: "POST" });
    }
    const page = (rest: string) => at(`/${id}/deliveries?state=waiting&limit=2${rest}`);

    const first = await page("");
    const second = await page(`&cursor=${first.body.page_info.next_cursor}`);

    expect([first.body.deliveries.length, second.body.deliveries.length]).toEqual([2, 1]);
    await at(`/${id}`, { method: "DELETE" });
  });

  test.each([
    "NEXT&state=waiting",
    "NEXT.junk",
    "NEXT.",
    "ID",
    "ID.",
    "ID.AAAA",
    "x",
    "019bb2a4-5c1e-7e4b-9d57-3f8a1c2b4d74",
  ])("the history refuses the damaged cursor %j", async (damaged) => {
    const id = await aWebhook();
    for (const _ of [1, 2]) {
      await at(`/${id}/test`, { method: "POST" });
    }
    const { deliveries, page_info } = (await at(`/${id}/deliveries?limit=1`)).body;
    const cursor = damaged.replace("NEXT", page_info.next_cursor).replace("ID", deliveries[0].id);

    const answer = await at(`/${id}/deliveries?limit=1&cursor=${cursor}`);

    expect([answer.status, answer.body.issues?.[0].path]).toEqual([400, "cursor"]);
    await at(`/${id}`, { method: "DELETE" });
  });

  test("the history refuses a cursor of another webhook", async () => {
    const [id, other] = [await aWebhook(), await aWebhook()];
    for (const _ of [1, 2]) {
      await at(`/${id}/test`, { method: "POST" });
    }
    const { next_cursor } = (await at(`/${id}/deliveries?limit=1`)).body.page_info;

    const answer = await at(`/${other}/deliveries?limit=1&cursor=${next_cursor}`);

    expect([answer.status, answer.body.issues[0].path]).toEqual([400, "cursor"]);
    for (const each of [id, other]) {
      await at(`/${each}`, { method: "DELETE" });
    }
  });

  test("deliveries are replayed one by one or all failed ones since a time", async () => {
    const id = await aWebhook();
    const ids: string[] = [];
    for (let index = 0; index < 2; index += 1) {
      ids.push((await at(`/${id}/test`, { method: "POST" })).body.id);
      await giveUpNext(id);
    }
    const one = await at(`/${id}/deliveries/${ids[0]}/replay`, { method: "POST" });
    expect([one.status, one.body.state, one.body.tries]).toEqual([200, "waiting", 1]);
    expect(one.body).not.toHaveProperty("error");

    const since = new Date(Date.now() - 60_000).toISOString();
    const replay = (body: object) => at(`/${id}/deliveries/replay`, { body });

    expect((await replay({ since, until: since })).body).toEqual({ count: 0 });
    expect((await replay({ since })).body).toEqual({ count: 1 });
    expect((await replay({})).status).toBe(400);
    expect((await at(`/${id}/deliveries/${randomUUID()}/replay`, { method: "POST" })).status).toBe(404);
    await at(`/${id}`, { method: "DELETE" });
  });
});

describe("permissions for webhooks", () => {
  const PATHS = (
    id: string,
    delivery: string,
  ): readonly (readonly [method: string, path: string, body?: object])[] => [
    ["GET", `/${id}`],
    ["GET", `/${id}/deliveries`],
    ["GET", `/${id}/deliveries/${delivery}`],
    ["PATCH", `/${id}`, { description: "mine" }],
    ["POST", `/${id}/rotate-secret`],
    ["POST", `/${id}/test`],
    ["POST", `/${id}/deliveries/${delivery}/replay`],
    ["POST", `/${id}/deliveries/replay`, { since: "2026-01-01T00:00:00Z" }],
    ["DELETE", `/${id}`],
  ];

  test("no route of webhooks reveals the webhooks of another team", async () => {
    const id = await aWebhook();
    const { body: delivery } = await at(`/${id}/test`, { method: "POST" });
    const before = (await at(`/${id}`)).body;

    for (const [method, path, body] of PATHS(id, delivery.id)) {
      const absent = path.replace(id, randomUUID());
      const [theirs, nobodys, bad] = await Promise.all(
        [path, absent, path.replace(id, "x")].map((path) =>
          at(path, { method, key: stranger, ...(body && { body }) }),
        ),
      );
      expect([method, path, theirs?.status]).toEqual([method, path, 404]);
      expect(theirs?.body.error).toBe(nobodys?.body.error);
      expect(bad?.status).toBe(404);
    }

    expect((await at("", { key: stranger })).body).toMatchObject({ webhooks: [] });
    expect((await at(`/${id}`)).body).toEqual(before);
    expect((await at(`/${id}/deliveries/${delivery.id}`)).body.state).toBe("waiting");
    await at(`/${id}`, { method: "DELETE" });
  });

  test("settings:read permits reading webhooks, and only settings:write permits writing", async () => {
    const id = await aWebhook();
    const { body: delivery } = await at(`/${id}/test`, { method: "POST" });

    for (const [method, path, body] of [
      ["GET", ""],
      ["POST", "", { url: URL_OUTSIDE }],
      ...PATHS(id, delivery.id),
    ] as const) {
      const ask = async (key: string | null) =>
        (await at(path, { method, key, ...(body && { body }) })).status;
      expect([method, path, await ask(reader)]).toEqual([method, path, method === "GET" ? 200 : 403]);
      expect([method, path, await ask(runner)]).toEqual([method, path, 403]);
      expect([method, path, await ask(null)]).toEqual([method, path, 401]);
    }
    await at(`/${id}`, { method: "DELETE" });
  });
});
