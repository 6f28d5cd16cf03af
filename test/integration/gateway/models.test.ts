import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { GatewayTraffic } from "../../../src/core/ports/gateway.ts";
import { createRedactor } from "../../../src/secrets/redaction.ts";
import {
  type AnsweringServer,
  answerEvents,
  answerJson,
  eventOf,
  startAnsweringServer,
} from "../../support/answering-server.ts";
import {
  type GatewayHarness,
  type GatewayHarnessOptions,
  openGateway,
  requestRaw,
} from "../../support/gateway-harness.ts";
import { waitFor } from "../../support/wait-for.ts";

const KEY = "canary-key-of-the-operator-0123456789";
const PLACEHOLDER = "placeholder-of-the-sandbox";

let server: AnsweringServer;
let harness: GatewayHarness;
const open: GatewayHarness[] = [];

beforeAll(async () => {
  server = await startAnsweringServer();
});
beforeEach(async () => {
  server.requests.length = 0;
  server.early = () => false;
  server.answer = (response) => answerJson(response, {});
  harness = await openHarness();
});
afterEach(async () => {
  for (const each of open.splice(0)) {
    expect(JSON.stringify([each.logged, each.gateway.traffic])).not.toContain(KEY);
    await each.close();
  }
});
afterAll(() => server.stop());

async function openHarness(options: GatewayHarnessOptions = {}): Promise<GatewayHarness> {
  const each = await openGateway({
    models: {
      openai: { key: KEY, baseUrl: `${server.url}/v1` },
      anthropic: { key: KEY, baseUrl: server.url },
      gemini: { key: KEY, baseUrl: server.url },
    },
    redact: createRedactor([KEY]).redact,
    ...options,
  });
  open.push(each);
  return each;
}

interface ModelRequest {
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly method?: string;
}

function send(
  { body = {}, headers = {}, method = "POST", path }: ModelRequest,
  of = harness,
): Promise<Response> {
  const type = { "content-type": "application/json" };
  const payload = method === "GET" ? {} : { body: JSON.stringify(body) };
  return fetch(`${of.gateway.address}/models${path}`, {
    method,
    headers: { ...type, ...headers },
    ...payload,
  });
}

const CHAT = "/openai/chat/completions";
const usageOf = ({ models }: GatewayTraffic) => [
  models.calls,
  models.inputTokens,
  models.outputTokens,
  models.totalTokens,
];

describe("the operator's model key", () => {
  test.each([
    ["/openai/responses", "/v1/responses", "authorization", `Bearer ${KEY}`],
    ["/anthropic/v1/messages", "/v1/messages", "x-api-key", KEY],
    [
      "/gemini/v1beta/models/g-2:generateContent",
      "/v1beta/models/g-2:generateContent",
      "x-goog-api-key",
      KEY,
    ],
  ])(
    "the key for %s is added, and credentials sent by the sandbox are removed",
    async (path, url, name, value) => {
      const placeholders = ["authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie"];
      const headers = Object.fromEntries(placeholders.map((each) => [each, PLACEHOLDER]));

      const answer = await send({
        path: `${path}?key=${PLACEHOLDER}&alt=sse&access_token=${PLACEHOLDER}`,
        headers: {
          ...headers,
          "anthropic-version": "2023-06-01",
          "openai-organization": "org-of-the-sandbox",
        },
      });

      expect(answer.status).toBe(200);
      const [forwarded = expect.fail("nothing arrived")] = server.requests;
      expect(forwarded.url).toBe(`${url}?alt=sse`);
      expect(forwarded.headers).toMatchObject({
        [name]: value,
        "accept-encoding": "identity",
        "anthropic-version": "2023-06-01",
        host: `127.0.0.1:${server.port}`,
      });
      expect(JSON.stringify(forwarded)).not.toContain(PLACEHOLDER);
      expect(forwarded.headers).not.toHaveProperty("openai-organization");
    },
  );

  test("no key is sent to a server that needs none", async () => {
    const keyless = await openHarness({ models: { openai: { key: undefined, baseUrl: server.url } } });

    await send({ path: CHAT, headers: { authorization: `Bearer ${PLACEHOLDER}` } }, keyless);

    expect(server.requests[0]?.headers).not.toHaveProperty("authorization");
  });

  test.each([
    ["a stream", "text/event-stream", 200],
    ["an answer", "application/json", 200],
    ["an error", "application/json", 400],
    ["an error of another type", "text/html", 500],
  ])("the key is masked in %s that repeats it, even if it arrives in pieces", async (_, type, status) => {
    server.answer = (response) => {
      response.writeHead(status, { "content-type": type });
      response.write(`data: {"error":{"message":"no ${KEY.slice(0, 20)}`);
      setImmediate(() => response.end(`${KEY.slice(20)} here"}}\n\n`));
    };

    const answer = await send({ path: CHAT });

    const answerText = await answer.text();
    expect(answerText).toMatch(/no (\*{37}|\[redacted\]) here/);
    expect(answerText).not.toContain(KEY.slice(0, 20));
  });

  test("a redirect by the model server is an error, and the key is not sent to its target", async () => {
    server.answer = (response) => void response.writeHead(307, { location: `${server.url}/else` }).end();

    const answer = await send({ path: CHAT });

    expect([answer.status, answer.headers.get("location"), server.requests.length]).toEqual([502, null, 1]);
    expect(harness.gateway.traffic.modelFailure?.status).toBe(502);
  });
});

describe("forwarding of model requests", () => {
  test.each([
    ["GET", "/openai/models?client_version=1"],
    ["GET", "/openai/models/vendor/name-1.5:free"],
    ["POST", "/openai/responses/compact"],
    ["POST", "/openai/completions"],
    ["POST", "/openai/embeddings"],
    ["POST", "/anthropic/v1/messages/count_tokens"],
    ["GET", "/anthropic/v1/models"],
    ["POST", "/gemini/v1/models/g-2.5:streamGenerateContent?alt=sse"],
    ["POST", "/gemini/v1beta/models/g-2.5:countTokens"],
    ["GET", "/gemini/v1beta/models"],
  ])("%s %s is forwarded", async (method, path) => {
    expect((await send({ method, path })).status).toBe(200);
    expect(server.requests[0]?.url).toBe(path.replace("/openai", "/v1").replace(/^\/(anthropic|gemini)/, ""));
  });

  test.each([
    ["GET", "/openai/responses/resp_1", 404],
    ["GET", "/openai/files", 404],
    ["POST", "/openai/fine_tuning/jobs", 404],
    ["DELETE", "/openai/models/mine", 404],
    ["POST", "/openai/chat/completions/", 404],
    ["POST", "/anthropic/v1/files", 404],
    ["POST", "/anthropic/v1/messages/batches", 404],
    ["GET", "/anthropic/v1/organizations/api_keys", 404],
    ["POST", "/gemini/v1beta/files", 404],
    ["POST", "/gemini/v1beta/models/g:generateContent/operations", 404],
    ["POST", "/gemini/v1beta/cachedContents", 404],
    ["POST", "/else/v1/messages", 404],
    ["POST", "/constructor/v1/messages", 404],
    ["POST", "/openai/chat/../files", 400],
    ["POST", "/openai/chat/completions/../../files", 400],
    ["GET", "/openai/models/%2e%2e/files", 400],
    ["GET", "/openai/models/a%2F..%2f..%2Ffiles", 400],
    ["GET", "/openai/models/..\\files", 400],
    ["GET", "/openai//models", 400],
    ["GET", "/openai/models/@127.0.0.1:9/", 200],
    ["GET", "/openai@127.0.0.1:9/models", 404],
  ])("%s %s gets status %i and leads to no other address", async (method, path, status) => {
    const answer = await requestRaw(harness.gateway, `/models${path}`, {
      method,
      body: method === "POST" ? "{}" : "",
    });

    expect(answer.status).toBe(status);
    expect(server.requests.map(({ url }) => url)).toEqual(status === 200 ? ["/v1/models/@127.0.0.1:9/"] : []);
  });

  test("a websocket request gets status 426", async () => {
    const headers = {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-key": "AAAA",
      "sec-websocket-version": "13",
    };

    expect((await requestRaw(harness.gateway, "/models/openai/responses", { headers })).status).toBe(426);
  });

  test.each([
    ["/openai/responses", { error: { message: expect.stringContaining("OPENAI_API_KEY") } }],
    [
      "/anthropic/v1/messages",
      {
        type: "error",
        error: { type: "permission_error", message: expect.stringContaining("ANTHROPIC_API_KEY") },
      },
    ],
    [
      "/gemini/v1beta/models/g:generateContent",
      {
        error: { code: 403, status: "PERMISSION_DENIED", message: expect.stringContaining("GEMINI_API_KEY") },
      },
    ],
  ])(
    "without a configured key a request to %s is refused, and the answer names the missing variable",
    async (path, error) => {
      const bare = await openHarness({ models: {} });

      const answer = await send({ path }, bare);

      expect(answer.status).toBe(403);
      expect(await answer.json()).toMatchObject(error);
    },
  );
});

describe("token counting", () => {
  const chatUsage = {
    prompt_tokens: 11,
    completion_tokens: 5,
    total_tokens: 16,
    prompt_tokens_details: { cached_tokens: 8 },
  };
  const responsesUsage = {
    input_tokens: 11,
    output_tokens: 5,
    total_tokens: 16,
    input_tokens_details: { cached_tokens: 8 },
  };
  const messageUsage = {
    input_tokens: 2,
    cache_creation_input_tokens: 1,
    cache_read_input_tokens: 8,
    output_tokens: 5,
  };
  const geminiUsage = {
    promptTokenCount: 11,
    candidatesTokenCount: 3,
    thoughtsTokenCount: 2,
    cachedContentTokenCount: 8,
    totalTokenCount: 16,
  };
  const prices = { "m-*": { input: 1_000_000, cached_input: 100_000, output: 2_000_000 } };

  test.each([
    ["chat", CHAT, { model: "m-1", choices: [{ message: { content: "hi" } }], usage: chatUsage }],
    ["responses", "/openai/responses", { model: "m-1", output: [], error: null, usage: responsesUsage }],
    ["messages", "/anthropic/v1/messages", { model: "m-1", content: [], usage: messageUsage }],
    ["gemini", "/gemini/v1beta/models/m-1:generateContent", { candidates: [], usageMetadata: geminiUsage }],
    [
      "gemini's list",
      "/gemini/v1beta/models/m-1:streamGenerateContent",
      [{ candidates: [] }, { usageMetadata: geminiUsage }],
    ],
  ])("the tokens of %s as JSON are counted and priced", async (_, path, body) => {
    const priced = await openHarness({ modelPrices: prices });
    server.answer = (response) => answerJson(response, body);

    const answer = await send({ path, body: { model: "m-1" } }, priced);

    expect(await answer.json()).toEqual(body);
    expect(usageOf(priced.gateway.traffic)).toEqual([1, 11, 5, 16]);
    expect(priced.gateway.traffic.models.costUsd).toBeCloseTo(3 + 0.8 + 10);
  });

  const delta = eventOf({
    choices: [{ delta: { content: 'say "usage": {"prompt_tokens": 99}' } }],
    usage: null,
  });
  test.each([
    ["chat", CHAT, [delta, eventOf({ model: "m-1", choices: [], usage: chatUsage }), "data: [DONE]\n\n"]],
    [
      "responses",
      "/openai/responses",
      [
        eventOf(
          { type: "response.created", response: { model: "m-1", usage: null, error: null } },
          "response.created",
        ),
        eventOf({ type: "response.output_text.delta", delta: "hi" }, "response.output_text.delta"),
        eventOf(
          { type: "response.completed", response: { model: "m-1", usage: responsesUsage } },
          "response.completed",
        ),
      ],
    ],
    [
      "messages",
      "/anthropic/v1/messages",
      [
        eventOf(
          { type: "message_start", message: { model: "m-1", usage: { ...messageUsage, output_tokens: 1 } } },
          "message_start",
        ),
        eventOf(
          { type: "content_block_delta", delta: { type: "text_delta", text: "hi" } },
          "content_block_delta",
        ),
        eventOf(
          { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 5 } },
          "message_delta",
        ),
        eventOf({ type: "message_stop" }, "message_stop"),
      ],
    ],
    [
      "gemini",
      "/gemini/v1beta/models/m-1:streamGenerateContent?alt=sse",
      [
        eventOf({
          candidates: [{}],
          usageMetadata: { ...geminiUsage, candidatesTokenCount: 1, totalTokenCount: 14 },
        }),
        eventOf({ candidates: [{}], usageMetadata: geminiUsage }).replaceAll("\n", "\r\n"),
      ],
    ],
  ])("the tokens of %s as a stream are counted and priced", async (_, path, events) => {
    const priced = await openHarness({ modelPrices: prices });
    server.answer = (response) => answerEvents(response, events);
    const body = { model: "m-1", stream: true, stream_options: { include_usage: true } };

    const answer = await send({ path, body }, priced);

    expect(await answer.text()).toBe(events.join(""));
    expect(usageOf(priced.gateway.traffic)).toEqual([1, 11, 5, 16]);
    expect(priced.gateway.traffic.models.costUsd).toBeCloseTo(3 + 0.8 + 10);
  });

  test("tokens are counted even if every byte of a stream arrives separately", async () => {
    const text = eventOf({ choices: [], usage: chatUsage, note: "grüß dich" });
    server.answer = async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
      for (const byte of Buffer.from(text)) {
        response.write(Buffer.from([byte]));
        await new Promise(setImmediate);
      }
      response.end();
    };

    expect(await (await send({ path: "/openai/responses" })).text()).toBe(text);
    expect(usageOf(harness.gateway.traffic)).toEqual([1, 11, 5, 16]);
  });

  test("usage is requested for a chat stream that did not ask for it, and hidden from the sandbox", async () => {
    const rest = [delta, "data: [DONE]\n\n"];
    server.answer = (response, { body }) => {
      const includesUsage = JSON.parse(body).stream_options?.include_usage === true;
      const usage = includesUsage ? [eventOf({ choices: [], usage: chatUsage })] : [];
      answerEvents(response, [delta, ...usage, "data: [DONE]\n\n"]);
    };

    const answer = await send({
      path: CHAT,
      body: { model: "m", stream: true, messages: [], stream_options: { other: 1 } },
    });

    expect(await answer.text()).toBe(rest.join(""));
    expect(JSON.parse(server.requests[0]?.body ?? "")).toEqual({
      model: "m",
      stream: true,
      messages: [],
      stream_options: { other: 1, include_usage: true },
    });
    expect(usageOf(harness.gateway.traffic)).toEqual([1, 11, 5, 16]);
  });

  test("tokens are counted by the time the sandbox receives the usage", async () => {
    server.answer = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(eventOf({ type: "response.completed", response: { usage: responsesUsage } }));
    };

    const answer = await send({ path: "/openai/responses" });
    const reader = answer.body?.getReader();
    await reader?.read();

    expect(usageOf(harness.gateway.traffic)).toEqual([1, 11, 5, 16]);
    await reader?.cancel();
  });

  test("watchers are notified of token counts at once, until they unsubscribe", async () => {
    server.answer = (response) => answerJson(response, { usage: chatUsage });
    const totals: number[] = [];
    const stop = harness.gateway.watch(({ models }) => totals.push(models.totalTokens));

    await send({ path: CHAT });
    stop();
    await send({ path: CHAT });

    expect(totals).toEqual([0, 16]);
    expect(usageOf(harness.gateway.traffic)).toEqual([2, 22, 10, 32]);
  });

  test("answers with malformed usage are forwarded unchanged and add no tokens", async () => {
    const answers = [
      '{"usage":',
      '{"usage":{"prompt_tokens":-5,"completion_tokens":"many"}}',
      '{"usage":7}',
      "[null]",
    ];
    for (const text of answers) {
      server.answer = (response) =>
        void response.writeHead(200, { "content-type": "application/json" }).end(text);

      expect(await (await send({ path: CHAT })).text()).toBe(text);
    }
    expect(usageOf(harness.gateway.traffic)).toEqual([4, 0, 0, 0]);
  });
});

describe("model failures", () => {
  test.each([
    ["/openai/responses", 401, { error: { message: "Incorrect API key provided", code: "invalid_api_key" } }],
    [
      "/anthropic/v1/messages",
      529,
      { type: "error", error: { type: "overloaded_error", message: "Incorrect API key provided" } },
    ],
    [
      "/gemini/v1beta/models/g:generateContent",
      429,
      [{ error: { code: 429, message: "Incorrect API key provided" } }],
    ],
    [CHAT, 404, { detail: "Incorrect API key provided" }],
    [CHAT, 500, { error: "Incorrect API key provided" }],
  ])(
    "a failed request to %s with status %i is recorded, and its answer is forwarded unchanged",
    async (path, status, body) => {
      server.answer = (response) => {
        response.setHeader("retry-after", "7");
        response.setHeader("x-request-id", "req-1");
        answerJson(response, body, status);
      };

      const answer = await send({ path });

      expect([answer.status, await answer.json(), answer.headers.get("retry-after")]).toEqual([
        status,
        body,
        "7",
      ]);
      expect(harness.gateway.traffic.modelFailure).toEqual({ status, message: "Incorrect API key provided" });
      expect(usageOf(harness.gateway.traffic)).toEqual([0, 0, 0, 0]);
    },
  );

  test.each([
    [
      "/anthropic/v1/messages",
      { type: "error", error: { type: "overloaded_error", message: "Too busy" } },
      529,
    ],
    [
      "/openai/responses",
      { type: "response.failed", response: { error: { code: "rate_limit_exceeded", message: "Too busy" } } },
      429,
    ],
    ["/openai/responses", { type: "error", code: "server_error", message: "Too busy" }, 500],
    [CHAT, { error: { code: 402, message: "Too busy" } }, 402],
    [
      "/gemini/v1beta/models/g:streamGenerateContent",
      { error: { code: 503, message: "Too busy", status: "UNAVAILABLE" } },
      503,
    ],
  ])("an error within a stream of %s is recorded as a model failure: %j", async (path, event, status) => {
    server.answer = (response) => answerEvents(response, [eventOf({ hello: 1 }), eventOf(event)]);

    await (await send({ path })).text();

    expect(harness.gateway.traffic.modelFailure).toEqual({ status, message: "Too busy" });
  });

  test("the next successful answer clears a model failure", async () => {
    server.answer = (response) => answerJson(response, {}, 500);
    await send({ path: CHAT });
    expect(harness.gateway.traffic.modelFailure).toEqual({ status: 500, message: "{}" });
    server.answer = (response) => answerJson(response, {});

    await send({ path: CHAT });

    expect(harness.gateway.traffic.modelFailure).toBeUndefined();
  });

  test("a failed request for the list of models is not a model failure", async () => {
    server.answer = (response) => answerJson(response, {}, 404);

    expect((await send({ method: "GET", path: "/openai/models" })).status).toBe(404);
    expect(harness.gateway.traffic.modelFailure).toBeUndefined();
  });

  test("an unreachable model server is a model failure without a status", async () => {
    const away = await startAnsweringServer();
    await away.stop();
    const lost = await openHarness({ models: { openai: { key: KEY, baseUrl: away.url } } });

    const answer = await send({ path: CHAT }, lost);

    expect([answer.status, await answer.json()]).toEqual([
      502,
      { error: expect.objectContaining({ code: "502" }) },
    ]);
    expect(lost.gateway.traffic.modelFailure).toEqual({
      message: "The server could not be reached: the connection was refused (ECONNREFUSED).",
    });
    expect(JSON.stringify(lost.gateway.traffic)).not.toContain("127.0.0.1");
  });

  test.each([
    ["never begins to answer", { responseMs: 300 }, 504],
    ["stops in its answer", { idleMs: 300 }, 200],
  ])("a model server that %s is a model failure", async (_, limits, status) => {
    const hasty = await openHarness({ limits });
    server.early = (_request, response) => {
      if (status === 200) {
        response.writeHead(200, { "content-type": "text/event-stream" }).write(": hello\n\n");
      }
      return true;
    };

    const answer = await send({ path: CHAT }, hasty);

    expect(answer.status).toBe(status);
    if (status === 200) {
      await expect(answer.text()).rejects.toThrow();
    }
    expect(hasty.gateway.traffic.modelFailure?.message).toMatch(
      status === 200 ? /broke off/ : /did not answer in time/,
    );
    expect(hasty.logged).toEqual([]);
  });

  test("a request aborted by the sandbox is not a model failure", async () => {
    server.early = (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(": hello\n\n");
      return true;
    };
    const stop = new AbortController();
    const answer = await fetch(`${harness.gateway.address}/models${CHAT}`, {
      method: "POST",
      body: "{}",
      signal: stop.signal,
    });
    expect(answer.status).toBe(200);

    stop.abort();

    server.early = () => false;
    await send({ path: CHAT });
    expect(harness.gateway.traffic).toMatchObject({ models: { calls: 2 } });
    expect(harness.gateway.traffic.modelFailure).toBeUndefined();
    expect(harness.logged).toEqual([]);
  });

  test("an error answer over the size limit is recorded by its status only", async () => {
    server.answer = (response) =>
      void response.writeHead(500, { "content-type": "text/html" }).end("x".repeat(300_000));

    const answer = await send({ path: CHAT });

    expect([answer.status, (await answer.text()).length < 300]).toEqual([500, true]);
    expect(harness.gateway.traffic.modelFailure).toEqual({ status: 500, message: "HTTP 500" });
  });
});

describe("shutting a gateway", () => {
  test("a shut gateway refuses model requests with the first reason, in the format of each API", async () => {
    harness.gateway.shut("The budget of 5 USD is used up.");
    harness.gateway.shut("Another reason.");

    for (const path of [
      "/openai/responses",
      "/anthropic/v1/messages",
      "/gemini/v1/models/g:generateContent",
    ]) {
      const answer = await send({ path });

      expect([answer.status, await answer.json()]).toEqual([
        403,
        expect.objectContaining({
          error: expect.objectContaining({ message: "The budget of 5 USD is used up." }),
        }),
      ]);
    }
    expect(server.requests).toEqual([]);
  });

  test("shutting a gateway ends running requests at both ends", async () => {
    let upstreamCalls = 0;
    const upstream = Promise.withResolvers<void>();
    server.early = (_request, response) => {
      upstreamCalls += 1;
      response.writeHead(200, { "content-type": "text/event-stream" }).write(eventOf({ hello: 1 }));
      response.once("close", () => upstream.resolve());
      return true;
    };
    const answer = await send({ path: CHAT });
    const silent = Promise.withResolvers<void>();
    server.early = (_request, response) => {
      upstreamCalls += 1;
      response.once("close", () => silent.resolve());
      return true;
    };
    const waiting = send({ path: "/openai/responses" });
    await waitFor(() => upstreamCalls === 2, { what: "both calls" });

    harness.gateway.shut("Cancelled.");

    await expect(answer.text()).rejects.toThrow();
    await upstream.promise;
    await silent.promise;
    expect((await waiting).status).toBe(403);
    expect(harness.gateway.traffic.modelFailure).toBeUndefined();
    expect(harness.logged).toEqual([]);
  });
});

describe("limits of a gateway", () => {
  test("a body over the limit is refused, with or without a declared length", async () => {
    const narrow = await openHarness({ limits: { bodyBytes: 1_000 } });

    const declared = await requestRaw(narrow.gateway, "/models/openai/responses", {
      method: "POST",
      body: "x".repeat(1_001),
    });
    const chunked = await requestRaw(narrow.gateway, "/models/openai/responses", {
      method: "POST",
      body: `${"x".repeat(1_001)}`,
      headers: { "transfer-encoding": "chunked" },
    });

    expect([declared.status, chunked.status]).toEqual([413, 413]);
    expect(server.requests).toEqual([]);
  });

  test("a model request over the concurrency limit gets status 429", async () => {
    const narrow = await openHarness({ limits: { modelCalls: 1 } });
    const arrived = Promise.withResolvers<void>();
    server.early = () => {
      arrived.resolve();
      return true;
    };
    const first = send({ path: CHAT }, narrow).catch(() => undefined);
    await arrived.promise;

    expect((await send({ path: CHAT }, narrow)).status).toBe(429);
    await narrow.gateway.close();
    await first;
  });

  test("bodies too large to be buffered are forwarded unread, and their tokens are not counted", async () => {
    const narrow = await openHarness({ limits: { bufferedBytes: 100 } });
    const long = "x".repeat(50_000);
    server.answer = (response, { body }) =>
      answerJson(response, { body: body.length, long, usage: { prompt_tokens: 3 } });

    const answer = await send({ path: CHAT, body: { stream: true, long } }, narrow);

    expect(await answer.json()).toMatchObject({ body: 50_025, long });
    expect(usageOf(narrow.gateway.traffic)).toEqual([1, 0, 0, 0]);
    expect(server.requests[0]?.body).not.toContain("include_usage");
  });

  test("a deeply nested body is refused and releases its buffer for later requests", async () => {
    const narrow = await openHarness({ limits: { bufferedBytes: 300_000 } });
    const deep = `{"stream":true,"deep":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    const path = `/models${CHAT}`;

    for (let call = 0; call < 2; call += 1) {
      expect((await requestRaw(narrow.gateway, path, { method: "POST", body: deep })).status).toBe(400);
    }

    await send({ path: CHAT, body: { stream: true } }, narrow);
    expect(server.requests.map(({ body }) => body.includes("include_usage"))).toEqual([true]);
  });

  test("a compressed chat request is refused", async () => {
    expect((await send({ path: CHAT, headers: { "content-encoding": "gzip" } })).status).toBe(415);
  });
});

describe("a run with a budget in dollars", () => {
  const modelPrices = { "priced-*": { input: 10, output: 20 } };
  const GENERATE = "/gemini/v1beta/models";

  beforeEach(async () => {
    harness = await openHarness({ modelPrices, grant: { limitsCost: true } });
  });

  test.each([
    [CHAT, "priced-1"],
    ["/openai/responses", "priced-1"],
    ["/anthropic/v1/messages", "priced-1"],
    [`${GENERATE}/priced-1:generateContent`, undefined],
  ])("a call of a priced model passes: %s", async (path, model) => {
    const answer = await send({ path, body: { model, input: "hello" } });

    expect(answer.status).toBe(200);
    expect(JSON.parse(server.requests[0]?.body ?? "")).toMatchObject({ input: "hello" });
  });

  test.each([
    [CHAT, "other"],
    ["/openai/responses", "other"],
    ["/openai/embeddings", "other"],
    ["/anthropic/v1/messages", "other"],
    ["/anthropic/v1/messages", undefined],
    [`${GENERATE}/other:generateContent`, "priced-1"],
  ])("a call of a model without a price is refused and reaches no server: %s %s", async (path, model) => {
    const answer = await send({ path, body: { model } });

    expect(answer.status).toBe(403);
    expect(await answer.text()).toContain("has no known price, and this run has a budget in dollars.");
    expect(server.requests).toEqual([]);
  });

  test("a refused call of a model is the run's failure until another call succeeds", async () => {
    await send({ path: CHAT, body: { model: "other" } });
    const refused = harness.gateway.traffic.modelFailure;
    await send({ path: CHAT, body: { model: "priced-1" } });

    expect(refused).toEqual({
      ...{ status: 403, isUnpriced: true },
      message: "The model other has no known price, and this run has a budget in dollars.",
    });
    expect(harness.gateway.traffic.modelFailure).toBeUndefined();
  });

  test("a call of more than 8 MiB is still read and counted", async () => {
    server.answer = (response) => answerJson(response, { usage: { prompt_tokens: 7, completion_tokens: 1 } });
    const input = "x".repeat(9 * 2 ** 20);

    const answers = await Promise.all([
      send({ path: CHAT, body: { input, model: "priced-1" } }),
      send({ path: CHAT, body: { input, model: "other" } }),
    ]);

    expect(answers.map(({ status }) => status)).toEqual([200, 403]);
    expect(harness.gateway.traffic.models).toMatchObject({ totalTokens: 8, costUsd: 0.00009 });
  });

  test("a call is refused for a while when large bodies take all the room", async () => {
    const small = await openHarness({
      ...{ modelPrices, limits: { bufferedBytes: 1_000 } },
      grant: { limitsCost: true },
    });

    const answer = await send({ path: CHAT, body: { model: "priced-1", input: "x".repeat(2_000) } }, small);

    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "2"]);
    expect(server.requests).toEqual([]);
  });

  test("a compressed call is refused because its model cannot be read", async () => {
    const headers = { "content-encoding": "zstd" };
    const answer = await send({ path: "/openai/responses", headers, body: { model: "priced-1" } });

    expect(answer.status).toBe(415);
  });

  test("the list of models can be read", async () => {
    const answer = await send({ path: "/openai/models", method: "GET" });

    expect(answer.status).toBe(200);
  });
});

test("a model without a price can be called by a run without a budget in dollars", async () => {
  const answer = await send({ path: "/openai/responses", body: { model: "other" } });

  expect(answer.status).toBe(200);
});
