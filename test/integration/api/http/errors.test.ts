import { once } from "node:events";
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import type { FastifyPluginAsync } from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AppError } from "../../../../src/core/basics/errors.ts";
import { type Answer, call } from "../api-caller.ts";
import { type ApiHarness, PUBLIC_URL, startHarness } from "../api-harness.ts";

const RUNS = "/api/v1/agent/runs";
const CANARY = "canary-4f1c";

let notReady: string | undefined;
const adapter: FastifyPluginAsync = async (app) => {
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) =>
    done(null, body),
  );
  app.get("/test/bug", async () => {
    throw new Error(`SELECT * FROM runs -- ${CANARY}`);
  });
  app.get("/test/away", async () => {
    throw new AppError("resource_unavailable", `postgres at ${CANARY} is away`, { retryAfterMs: 1_500 });
  });
  app.post("/test/raw", async ({ body }) => ({ isBuffer: Buffer.isBuffer(body) }));
};

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness({
    adapterRoutes: [adapter],
    ready: async () => notReady,
    limits: { bodyBytes: 4_096 },
  });
});
afterAll(() => harness.close());

function expectProblem(answer: Answer, status: number, code: string): void {
  expect([answer.status, answer.body?.code]).toEqual([status, code]);
  expect(answer.headers.get("content-type")).toMatch(/^application\/problem\+json/);
  expect(answer.body).toMatchObject({
    type: `${PUBLIC_URL}/problems/${code}`,
    title: expect.any(String),
    status,
    error: expect.stringContaining(answer.body.title),
    retryable: expect.any(Boolean),
    trace_id: answer.headers.get("x-request-id"),
  });
  expect(answer.headers.get("x-should-retry")).toBe(String(answer.body.retryable));
}

describe("every refusal is a problem document", () => {
  test.each<[string, Parameters<typeof call>[2], number, string]>([
    ["/nowhere", {}, 404, "resource_not_found"],
    ["/api/v1/nowhere", {}, 404, "resource_not_found"],
    [RUNS, { method: "DELETE" }, 405, "operation_not_supported"],
    ["/%zz", {}, 400, "invalid_request"],
    [`${RUNS}/${"x".repeat(200)}`, {}, 404, "resource_not_found"],
    [RUNS, { body: "{" }, 400, "invalid_request"],
    [RUNS, { body: '{"prompt":"x","__proto__":{"a":1}}' }, 400, "invalid_request"],
    [RUNS, { body: "[".repeat(2_000) }, 400, "invalid_request"],
    [
      RUNS,
      { body: `{"prompt":"x","config":{"a":${"[".repeat(500)}${"]".repeat(500)}}}` },
      400,
      "invalid_request",
    ],
    [RUNS, { body: "null" }, 400, "invalid_request"],
    [RUNS, { body: '"text"' }, 400, "invalid_request"],
    [RUNS, { body: "" }, 400, "invalid_request"],
    [RUNS, { body: { prompt: "x".repeat(5_000) } }, 413, "invalid_request"],
    [
      RUNS,
      { body: "prompt=x", headers: { "content-type": "application/x-www-form-urlencoded" } },
      415,
      "invalid_request",
    ],
    [RUNS, { body: "x", headers: { "content-type": "text/plain" } }, 415, "invalid_request"],
    [RUNS, { key: null }, 401, "authentication_required"],
    [RUNS, { key: "errand_wrong" }, 401, "authentication_required"],
    [RUNS, { key: null, headers: { authorization: "Basic eDp5" } }, 401, "authentication_required"],
    [RUNS, { key: null, headers: { authorization: "Bearer" } }, 401, "authentication_required"],
  ])("the refusal of %s %o is a problem document with the status %d", async (path, options, status, code) => {
    const answer = await call(harness, path, options);

    expectProblem(answer, status, code);
    expect(answer.body.instance).toBe(path);
  });

  test("a body that is not UTF-8 is refused, and a compressed one is refused unread", async () => {
    const headers = { authorization: `Bearer ${harness.key}`, "content-type": "application/json" };
    const post = (body: Buffer<ArrayBuffer>) =>
      fetch(`${harness.url}${RUNS}`, { method: "POST", headers, body });

    const answers = [
      await post(Buffer.from('{"prompt":"caf\xe9"}', "latin1")),
      await post(gzipSync("{}") as Buffer<ArrayBuffer>),
    ];

    expect(answers.map(({ status }) => status)).toEqual([400, 400]);
    await Promise.all(answers.map((answer) => answer.arrayBuffer()));
  });

  test("a refusal does not repeat a key from the address", async () => {
    const answer = await call(harness, `${RUNS}/${harness.key}?key=${harness.key}`);

    expectProblem(answer, 404, "resource_not_found");
    expect(answer.body.instance).toBe(`${RUNS}/[redacted]`);
    expect(answer.text).not.toContain(harness.key);
  });

  test("a 401 says how to authenticate", async () => {
    const answer = await call(harness, RUNS, { key: null });

    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    expect(answer.body.remedy).toContain("Authorization");
  });
});

describe("a known path with another method", () => {
  test.each([
    ["POST", "/healthz", "GET, HEAD"],
    ["DELETE", RUNS, "GET, HEAD, POST"],
    ["PATCH", "/api/v1/agent/run", "POST"],
    ["HEAD", "/api/v1/agent/run", "POST"],
    ["OPTIONS", `${RUNS}/x/cancel`, "POST"],
    ["TRACE", "/api/v1/agent/whoami", "GET, HEAD"],
    ["PROPFIND", "/api/v1/agent/whoami", "GET, HEAD"],
    ["HEAD", `${RUNS}/x/events`, "GET"],
    ["GET", "/api/v1/agent/tasks/x/cancel", "POST"],
  ])("the response to %s %s is 405 and names the methods %s", async (method, path, allowed) => {
    const { status, headers, problem } = await withMethod(method, path);

    expect([status, headers.allow]).toEqual([405, allowed]);
    expect(headers["x-should-retry"]).toBe("false");
    expect(problem).toMatchObject(
      method === "HEAD" ? {} : { status: 405, code: "operation_not_supported", retryable: false },
    );
  });

  test("a request with another method is refused before its body is read, whatever the body is", async () => {
    const bodies: Parameters<typeof call>[2][] = [
      { body: "", headers: { "content-type": "application/json" } },
      { body: "a=b", headers: { "content-type": "application/x-www-form-urlencoded" } },
      { body: "x".repeat(5_000) },
    ];

    for (const options of bodies) {
      expectProblem(await call(harness, RUNS, { method: "PUT", ...options }), 405, "operation_not_supported");
      expectProblem(await call(harness, "/nowhere", options), 404, "resource_not_found");
    }
  });

  test("HEAD is answered as GET without a body", async () => {
    const answer = await call(harness, RUNS, { method: "HEAD" });

    expect([answer.status, answer.text]).toEqual([200, ""]);
  });
});

describe("internal failures", () => {
  test("a bug is answered with the trace id alone and logged once with its stack", async () => {
    const answer = await call(harness, "/test/bug");

    expectProblem(answer, 500, "internal_error");
    expect(answer.text).not.toContain(CANARY);
    expect(answer.body.detail).toBeUndefined();
    const lines = harness.logged.filter(
      (line) => line.includes(answer.body.trace_id) && line.includes(CANARY),
    );
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({
      msg: "request.failed",
      error: { stack: expect.any(String) },
    });
  });

  test("an unavailable resource is answered with the time to retry", async () => {
    const answer = await call(harness, "/test/away");

    expectProblem(answer, 503, "resource_unavailable");
    expect(answer.text).not.toContain(CANARY);
    expect([answer.headers.get("retry-after"), answer.headers.get("retry-after-ms")]).toEqual(["2", "1500"]);
  });

  test("a server that is not ready logs why and is still alive", async () => {
    notReady = "The database cannot be reached.";
    const [ready, alive] = [await call(harness, "/readyz"), await call(harness, "/healthz", { key: null })];
    notReady = undefined;

    expectProblem(ready, 503, "resource_unavailable");
    expect(ready.text).not.toContain("database");
    expect(harness.logged.some((line) => line.includes("The database cannot be reached."))).toBe(true);
    expect([alive.status, alive.body]).toEqual([200, { status: "alive" }]);
    expect((await call(harness, "/readyz", { key: null })).status).toBe(200);
  });
});

describe("the request id", () => {
  test.each(["req_1.a:b/c+d=~", "x".repeat(128)])("the request id %s of the caller is used", async (id) => {
    const answer = await call(harness, "/nowhere", { headers: { "x-request-id": id } });

    expect([answer.headers.get("x-request-id"), answer.body.trace_id]).toEqual([id, id]);
  });

  test.each(["x".repeat(129), "a b", "<script>", "a, b", ""])(
    "the invalid request id %j is replaced",
    async (id) => {
      const answer = await call(harness, "/healthz", { headers: { "x-request-id": id } });

      expect(answer.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    },
  );
});

test("no log line holds a key, a cookie, a query or a body", async () => {
  const from = harness.logged.length;
  await call(harness, `${RUNS}?q=${CANARY}`, { headers: { cookie: `a=${CANARY}` } });
  await call(harness, RUNS, { body: { prompt: CANARY, title: 7 } });
  await call(harness, RUNS, { key: CANARY });

  const lines = harness.logged.slice(from);

  expect(lines.filter((line) => line.includes("request.answered"))).toHaveLength(3);
  expect(lines.filter((line) => line.includes(CANARY) || line.includes(harness.key))).toEqual([]);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    requestId: expect.any(String),
    path: RUNS,
    status: 200,
  });
});

test("adapters receive raw bodies while the API parses JSON", async () => {
  expect((await call(harness, "/test/raw", { body: { a: 1 } })).body).toEqual({ isBuffer: true });
});

test("the hooks of the API do not apply to the routes of adapters, and unmatched requests of these are refused", async () => {
  const raw = await call(harness, "/test/raw", { body: { a: 1 } });
  expect([raw.status, raw.headers.get("content-security-policy")]).toEqual([200, null]);

  const unmatched = await call(harness, "/test/raw");
  expectProblem(unmatched, 405, "operation_not_supported");
  expect(unmatched.headers.get("content-security-policy")).toContain("default-src 'none'");
});

test("answers carry strict security headers, and answers of the API are not cached", async () => {
  const { headers } = await call(harness, RUNS);

  expect(headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(headers.get("content-security-policy")).not.toContain("unsafe");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("strict-transport-security")).toBeNull();
});

describe("a slow caller", () => {
  let impatient: ApiHarness;
  beforeAll(async () => {
    const limits = { headersTimeoutMs: 200, requestTimeoutMs: 300, timeoutCheckMs: 50 };
    impatient = await startHarness({ limits });
  });
  afterAll(() => impatient.close());

  test.each([
    ["with its headers", "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: "],
    [
      "with its body",
      `POST ${RUNS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n`,
    ],
  ])("a caller that is slow %s is cut off", async (what, start) => {
    const rest = what === "with its body" ? `Authorization: Bearer ${impatient.key}\r\n\r\n{` : "";

    expect(await rawAnswer(start + rest, impatient)).toMatch(/^HTTP\/1\.1 408 /);
  });
});

test("a request that is not HTTP is answered with a problem document", async () => {
  const answer = await rawAnswer("nonsense\r\n\r\n");

  expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  expect(answer).toContain("application/problem+json");
  expect(answer).toContain('"code":"invalid_request"');
});

test.each(["Content-Length: 1", "Transfer-Encoding: chunked"])(
  "a request with the header %s beside Content-Length is refused",
  async (header) => {
    const text = `GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n${header}\r\n\r\n`;

    expect(await rawAnswer(text)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  },
);

describe("headers that Node refuses without a message", () => {
  const request = (path: string, ...headers: string[]) =>
    [`GET ${path} HTTP/1.1`, ...headers, "X-Request-Id: raw-1", "Connection: close", "", ""].join("\r\n");

  test.each([
    ["no Host", request("/healthz"), "400 Bad Request"],
    ["no Host, at no address", request("/nowhere"), "400 Bad Request"],
    ["two Host headers", request("/healthz", "Host: x", "Host: y"), "400 Bad Request"],
    ["two equal Host headers", request("/healthz", "Host: x", "hOST: x"), "400 Bad Request"],
    [
      "two keys",
      request(RUNS, "Host: x", "Authorization: Bearer a", "Authorization: Bearer b"),
      "400 Bad Request",
    ],
    ["two origins", request(RUNS, "Host: x", "Origin: http://a", "Origin: http://b"), "400 Bad Request"],
    ["two types", request(RUNS, "Host: x", "Content-Type: a/b", "Content-Type: c/d"), "400 Bad Request"],
    ["no Host, but an expectation", request("/healthz", "Expect: tea"), "400 Bad Request"],
    [
      "an expectation that is unknown",
      request("/healthz", "Host: x", "Expect: tea"),
      "417 Expectation Failed",
    ],
    ["one at no address", request("/nowhere", "Host: x", "Expect: tea"), "417 Expectation Failed"],
    ["one before the key is looked at", request(RUNS, "Host: x", "Expect: tea"), "417 Expectation Failed"],
  ])("%s in the headers is refused with a problem document", async (_what, text, status) => {
    const [head = "", body = ""] = (await rawAnswer(text)).split("\r\n\r\n");

    const [first, ...lines] = head.split("\r\n");
    expect(first).toBe(`HTTP/1.1 ${status}`);
    expect(lines).toContain("x-request-id: raw-1");
    expect(lines).toContain("x-should-retry: false");
    expect(lines).toContainEqual(expect.stringMatching(/^content-type: application\/problem\+json/));
    expect(lines).toContain("connection: close");
    expect(JSON.parse(body)).toMatchObject({
      type: `${PUBLIC_URL}/problems/invalid_request`,
      status: Number(status.slice(0, 3)),
      code: "invalid_request",
      trace_id: "raw-1",
    });
  });

  test("the connection is closed after a refused request, whether or not the caller requested it", async () => {
    expect(await rawAnswer("GET /healthz HTTP/1.1\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 /);
    expect(await rawAnswer("GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n\r\n")).toMatch(
      /^HTTP\/1\.1 417 /,
    );
  });

  test.each([
    ["HTTP/1.0, which has no Host", "GET /healthz HTTP/1.0\r\n\r\n"],
    ["an empty Host", request("/healthz", "Host:")],
  ])("%s in the headers is answered", async (_what, text) => {
    expect(await rawAnswer(text)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test("a caller that sends Expect: 100-continue is told to continue", async () => {
    expect(await rawAnswer(request("/healthz", "Host: x", "Expect: 100-continue"))).toMatch(
      /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /,
    );
  });
});

interface MethodAnswer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly problem: unknown;
}

/** `fetch` refuses to send some methods. */
async function withMethod(method: string, path: string): Promise<MethodAnswer> {
  const headers = { authorization: `Bearer ${harness.key}` };
  const request = httpRequest(`${harness.url}${path}`, { method, headers }).end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const body = Buffer.concat(await response.toArray()).toString();
  return {
    status: response.statusCode,
    headers: response.headers,
    problem: body === "" ? {} : JSON.parse(body),
  };
}

/** Returns all bytes until the server closes the connection. */
async function rawAnswer(text: string, { url } = harness): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  let answer = "";
  socket.setEncoding("utf8").on("data", (part) => {
    answer += part;
  });
  socket.write(text);
  await once(socket, "close");
  return answer;
}
