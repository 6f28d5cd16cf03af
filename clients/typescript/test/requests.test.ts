import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type ApiHarness, startHarness } from "../../../test/integration/api/api-harness.ts";
import {
  APIConnectionError,
  APIConnectionTimeoutError,
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  Errand,
  ErrandError,
  InternalServerError,
  InvalidResponseError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  UnprocessableEntityError,
} from "../src/index.ts";
import { type Fault, FaultyProxy } from "./faulty-proxy.ts";
import { type PausingClientOptions, pausingClient } from "./pausing-client.ts";

let harness: ApiHarness;
let proxy: FaultyProxy;
beforeAll(async () => {
  harness = await startHarness();
  proxy = await FaultyProxy.start(harness.url);
});
afterAll(async () => {
  await proxy.stop();
  await harness.close();
});
beforeEach(() => {
  proxy.faults.length = 0;
  proxy.seen.length = 0;
});

function clientWithPauses(options: PausingClientOptions = {}) {
  return pausingClient({ baseUrl: proxy.url, apiKey: harness.key, ...options });
}

function answers(status: number, headers: Record<string, string> = {}): Fault {
  return { kind: "answer", status, headers };
}

describe("retries", () => {
  test.each<[string, Fault]>([
    ["a connection that breaks", { kind: "drop" }],
    ["a response that is lost", { kind: "drop-response" }],
    ["a response that is cut", { kind: "truncate" }],
    ["408", answers(408)],
    ["409", answers(409)],
    ["429", answers(429)],
    ["500", answers(500)],
    ["503", answers(503)],
  ])("a request is sent again after %s, with pauses that double", async (_name, fault) => {
    const { client, pausesMs } = clientWithPauses();
    proxy.faults.push(fault, fault);

    const { principal } = await client.whoami();

    expect(principal.type).toBe("user");
    expect(pausesMs).toEqual([500, 1_000]);
    expect(proxy.seen).toHaveLength(3);
  });

  test("pauses grow to eight seconds and are up to a quarter shorter at random", async () => {
    const { client, pausesMs } = clientWithPauses({ maxRetries: 6, random: () => 1 });
    proxy.faults.push(...Array.from({ length: 6 }, () => answers(503)));

    await client.whoami();

    expect(pausesMs).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000].map((ms) => ms * 0.75));
  });

  test("an error is thrown after two retries by default", async () => {
    const { client } = clientWithPauses();
    proxy.faults.push(answers(503), answers(503), answers(503));

    await expect(client.whoami()).rejects.toBeInstanceOf(InternalServerError);
    expect(proxy.seen).toHaveLength(3);
  });

  test("the number of retries is set for the client or for one request", async () => {
    const { client } = clientWithPauses({ maxRetries: 0 });
    proxy.faults.push(answers(503), answers(503), answers(503));

    await expect(client.whoami()).rejects.toBeInstanceOf(InternalServerError);
    expect(proxy.seen).toHaveLength(1);
    await client.whoami({ maxRetries: 5 });
    expect(proxy.seen).toHaveLength(4);
  });

  test.each([
    ["retry-after in seconds", { "retry-after": "7" }, 7_000],
    ["retry-after as a date", { "retry-after": "Sun, 01 Mar 2026 09:00:20 GMT" }, 20_000],
    ["retry-after-ms", { "retry-after": "7", "retry-after-ms": "1234" }, 1_234],
  ])("the pause of the server is taken from %s", async (_name, headers, ms) => {
    const { client, pausesMs } = clientWithPauses();
    proxy.faults.push(answers(429, headers));

    await client.whoami();

    expect(pausesMs).toEqual([ms]);
  });

  test("a pause of the server that is longer than a minute is an error at once", async () => {
    const { client, pausesMs } = clientWithPauses();
    proxy.faults.push(answers(429, { "retry-after": "61" }));

    await expect(client.whoami()).rejects.toBeInstanceOf(RateLimitError);
    expect(pausesMs).toEqual([]);
  });

  test("x-should-retry of the server decides whatever the status is", async () => {
    const { client } = clientWithPauses();
    proxy.faults.push(answers(503, { "x-should-retry": "false" }));
    await expect(client.whoami()).rejects.toBeInstanceOf(InternalServerError);
    expect(proxy.seen).toHaveLength(1);

    proxy.faults.push(answers(400, { "x-should-retry": "true" }));
    await client.whoami();
    expect(proxy.seen).toHaveLength(3);
  });

  test("a write whose responses are lost happens once, because its retries have the same key", async () => {
    const { client } = clientWithPauses();
    proxy.faults.push({ kind: "drop-response" }, { kind: "truncate" });

    const { run_id } = await client.runs.create({ prompt: "once", metadata: { write: "repeated" } });

    const keys = new Set(proxy.seen.map(({ headers }) => headers["idempotency-key"]));
    expect([proxy.seen.length, keys.size]).toEqual([3, 1]);
    const { runs } = await client.runs.list({ metadata: { write: "repeated" } });
    expect(runs.map((run) => run.run_id)).toEqual([run_id]);
  });

  test("two calls have different idempotency keys, unless the caller names one", async () => {
    const { client } = clientWithPauses();
    const [one, other] = [
      await client.runs.create({ prompt: "x" }),
      await client.runs.create({ prompt: "x" }),
    ];
    expect(one.run_id).not.toBe(other.run_id);

    const options = { idempotencyKey: "import-4711" };
    const [first, again] = [
      await client.runs.create({ prompt: "x" }, options),
      await client.runs.create({ prompt: "x" }, options),
    ];
    expect(again.run_id).toBe(first.run_id);
  });
});

describe("timeouts and aborts", () => {
  test("a response that does not arrive in time is an APIConnectionTimeoutError after the retries", async () => {
    const { client } = clientWithPauses({ timesOut: true, maxRetries: 1 });
    proxy.faults.push({ kind: "hang" }, { kind: "hang" });

    const error = await client.whoami().catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(APIConnectionTimeoutError);
    expect(error).toBeInstanceOf(APIConnectionError);
    expect(proxy.seen).toHaveLength(2);
  });

  test("a caller's signal ends a request and its retries", async () => {
    const { client } = clientWithPauses();
    const abort = new AbortController();
    proxy.faults.push({ kind: "hang" });
    const call = client.whoami({ signal: abort.signal });
    const ended = expect(call).rejects.toBeInstanceOf(APIUserAbortError);
    abort.abort(new Error("no longer needed"));

    await ended;
    expect(proxy.seen.length).toBeLessThanOrEqual(1);
  });

  test("a server that is not there is an APIConnectionError with its reason", async () => {
    const { client } = clientWithPauses({ baseUrl: "http://127.0.0.1:1", maxRetries: 0 });

    await expect(client.whoami()).rejects.toThrow(/ECONNREFUSED|refused|bad port/);
  });
});

describe("errors by status", () => {
  test.each<[number, new (...args: never[]) => Error, (client: Errand) => Promise<unknown>]>([
    [400, BadRequestError, (client) => client.runs.create({ prompt: "" })],
    [401, AuthenticationError, (client) => client.whoami({ headers: { authorization: "Bearer wrong" } })],
    [404, NotFoundError, (client) => client.runs.retrieve("00000000-0000-7000-8000-000000000000")],
    [
      409,
      ConflictError,
      async (client) => {
        const { run_id } = await client.runs.create({ prompt: "x" });
        return client.runs.delete(run_id, { maxRetries: 0 });
      },
    ],
    [
      422,
      UnprocessableEntityError,
      async (client) => {
        await client.runs.create({ prompt: "one" }, { idempotencyKey: "used" });
        return client.runs.create({ prompt: "other" }, { idempotencyKey: "used" });
      },
    ],
  ])("%d is the class %o, with code, request id and body", async (status, type, call) => {
    const { client } = clientWithPauses();

    const error = await call(client).catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(type);
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ status, code: expect.stringMatching(/^[a-z_]+$/) });
    const { message, problem, requestId } = error as APIError;
    expect(requestId).toMatch(/\S/);
    expect(message).toBe(problem.error);
  });

  test("403 is a PermissionDeniedError with a remedy", async () => {
    const { client } = clientWithPauses({
      apiKey: await harness.addUser("A reader", { scopes: ["runs:read"] }),
    });

    const error = await client.runs.create({ prompt: "x" }).catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(PermissionDeniedError);
    expect((error as APIError).code).toBe("not_authorized");
  });

  test("invalid input names each invalid member", async () => {
    const { client } = clientWithPauses();

    const error = await client
      .post("/agent/runs", { body: { prompt: 1 } })
      .catch((thrown: unknown) => thrown);

    expect((error as APIError).issues?.map(({ path }) => path)).toEqual(["prompt"]);
  });

  test("an error that no Errand server wrote keeps its text", async () => {
    const { client } = clientWithPauses({ maxRetries: 0 });
    proxy.faults.push(answers(502));

    const error = await client.whoami().catch((thrown: unknown) => thrown);

    expect(error).toMatchObject({ status: 502, body: {}, code: undefined });
  });

  test.each([
    ["a page", answers(413, { "content-type": "text/html" }), "A proxy before the server refuses"],
    ["JSON of its own", answers(413), "A proxy before the server refuses"],
  ])("a 413 with %s is of a proxy, and its remedy says what to do", async (_what, fault, message) => {
    const { client } = clientWithPauses({ maxRetries: 0 });
    proxy.faults.push(fault);

    const error = await client.runs.create({ prompt: "x" }).catch((thrown: unknown) => thrown);

    expect(error).toMatchObject({
      status: 413,
      message: expect.stringContaining(message),
      remedy: expect.stringContaining("let the proxy pass bodies of 30 MiB"),
    });
  });

  test("a page instead of JSON is an error, because another server has answered", async () => {
    const { client } = clientWithPauses();
    proxy.faults.push(answers(200, { "content-type": "text/html; charset=utf-8" }));

    await expect(client.whoami()).rejects.toThrow("a page instead of JSON");
  });

  test("a list without its entries is an error that names them and the request", async () => {
    const { client } = clientWithPauses();
    proxy.faults.push(answers(200, { "content-type": "application/json", "x-request-id": "of-the-list" }));

    await expect(client.environments.list()).rejects.toThrow(
      'The response to GET /agent/environments has no member "environments". Its request id is of-the-list.',
    );
  });

  test.each<[string, (client: Errand) => PromiseLike<unknown>, string]>([
    ["a read", (client) => client.runs.retrieve("some"), 'GET /agent/runs/some has no member "run_id"'],
    ["a write", (client) => client.keys.rotate("some"), 'POST /agent/keys/some/rotate has no member "id"'],
    [
      "a call by its path",
      (client) => client.get("/agent/whoami?x=1"),
      'GET /agent/whoami has no member "principal"',
    ],
    [
      "an operation beside one with a parameter",
      (client) => client.runs.createMany([{ prompt: "x" }]),
      'POST /agent/runs/batch has no member "results"',
    ],
  ])(
    "%s whose response lacks a member is an error that names request and member",
    async (_what, call, words) => {
      const { client } = clientWithPauses();
      proxy.faults.push(answers(200, { "content-type": "application/json", "x-request-id": "r-7" }));

      const error = await Promise.resolve(call(client)).catch((thrown: unknown) => thrown);

      expect(error).toBeInstanceOf(InvalidResponseError);
      expect(error).toMatchObject({
        message: `The response to ${words}. Its request id is r-7.`,
        requestId: "r-7",
      });
    },
  );

  test("what a server of another version lacks is no error, and neither is what `fields` leaves out", async () => {
    const { client } = clientWithPauses();
    const json = { "content-type": "application/json" };
    proxy.faults.push(answers(200, { ...json, "errand-version": "0.1.0" }), answers(200, json));

    expect([await client.whoami(), await client.runs.retrieve("some", { fields: "title" })]).toEqual([
      {},
      {},
    ]);
  });

  test.each<[string, (client: Errand) => PromiseLike<unknown>]>([
    ["a write", (client) => client.runs.create({ prompt: "say redirected" })],
    ["a read that loses its key", (client) => client.whoami()],
  ])("%s that is redirected to another origin is an error that names it", async (_name, call) => {
    const { client } = clientWithPauses();
    proxy.faults.push(answers(301, { location: `${harness.url}/api/v1/agent/runs` }));

    await expect(call(client)).rejects.toThrow(`Use ${new URL(harness.url).origin}`);
  });
});

describe("requests", () => {
  test("a response is available with its headers, and without its body being read", async () => {
    const { client } = clientWithPauses();

    const { data, response, requestId } = await client.whoami().withResponse();
    const raw = await client.whoami().asResponse();

    expect([response.status, data.principal.type]).toEqual([200, "user"]);
    expect(requestId).toBe(response.headers.get("x-request-id"));
    expect(raw.bodyUsed).toBe(false);
    expect(await raw.json()).toEqual(data);
  });

  test("endpoints without a method of their own are called by their path", async () => {
    const { client } = clientWithPauses();

    const { run_id } = await client.post<{ run_id: string }>("/agent/run", { body: { prompt: "x" } });

    const run = await client.get<{ title: string }>(`/agent/runs/${run_id}`);
    expect(run.title).toBe("x");
  });

  test("headers and query of a call are added to those of the client", async () => {
    const { client } = clientWithPauses({ defaultHeaders: { "x-run-source": "CLI", "x-other": "1" } });

    await client.get("/agent/runs", { headers: { "x-other": undefined }, query: { limit: 1 } });

    const [seen] = proxy.seen;
    expect(seen?.path).toBe("/api/v1/agent/runs?limit=1");
    expect(seen?.headers).toMatchObject({ "x-run-source": "CLI" });
    expect(seen?.headers).not.toHaveProperty("x-other");
  });

  test("lists and records in a query are sent as the server reads them", async () => {
    const { client } = clientWithPauses();

    await client.runs.list({ state: ["FAILED", "ERROR"], metadata: { ticket: "OPS-17" } });

    expect(decodeURIComponent(proxy.seen[0]?.path ?? "")).toBe(
      "/api/v1/agent/runs?state=FAILED&state=ERROR&metadata[ticket]=OPS-17",
    );
  });

  test("a list is one page when it is awaited, and all entries when it is iterated", async () => {
    const { client } = clientWithPauses();
    const metadata = { one: "of five" };
    for (let count = 0; count < 5; count += 1) {
      await client.runs.create({ prompt: "x", metadata });
    }

    const page = await client.runs.list({ metadata, limit: 2 });
    const all: string[] = [];
    for await (const run of client.runs.list({ metadata, limit: 2 })) {
      all.push(run.run_id);
    }

    expect([page.runs.length, page.page_info.has_next_page]).toEqual([2, true]);
    expect(new Set(all).size).toBe(5);
  });

  test.each(["", ".", "..", "a/../b"])("an id %j leads to no other endpoint", async (id) => {
    const { client } = clientWithPauses();

    await expect(async () => client.runs.retrieve(id)).rejects.toBeInstanceOf(ErrandError);
    expect(proxy.seen.every(({ path }) => path === "/api/v1/agent/runs/a%2F..%2Fb")).toBe(true);
  });

  test.each(["", "/", "/api/v1", "/api/v1/"])("the address of the server may end with %j", async (ending) => {
    const { client } = clientWithPauses({ baseUrl: proxy.url + ending });

    await client.whoami();

    expect(proxy.seen[0]?.path).toBe("/api/v1/agent/whoami");
  });

  test("a header that cannot be sent is an error that does not show its value", async () => {
    const { client } = clientWithPauses({ apiKey: "secret\nkey" });
    const { client: other } = clientWithPauses({ defaultHeaders: { "x-proxy-token": "secret Ω" } });

    const errors = await Promise.all([client.whoami(), other.whoami()].map((call) => call.catch(String)));

    expect(errors).toEqual([
      "ErrandError: The API key has characters that cannot be sent.",
      "ErrandError: The header x-proxy-token has characters that cannot be sent.",
    ]);
    // Files of keys end with a line break.
    await expect(clientWithPauses({ apiKey: `${harness.key}\n` }).client.whoami()).resolves.toBeDefined();
  });

  test("a client without a key is refused, and null sends none", async () => {
    expect(() => new Errand({ baseUrl: proxy.url, apiKey: " \n" })).toThrow(/ERRAND_API_KEY/);

    const { client } = clientWithPauses({ apiKey: null });
    await expect(client.whoami()).rejects.toBeInstanceOf(AuthenticationError);
    expect(proxy.seen[0]?.headers.authorization).toBeUndefined();
  });

  test("no error text contains the key", async () => {
    const { client } = clientWithPauses({ maxRetries: 0 });
    proxy.faults.push({ kind: "drop" }, answers(500));

    const errors = [await client.whoami().catch(String), await client.whoami().catch(String)];

    expect(errors.join()).not.toContain(harness.key);
  });
});
