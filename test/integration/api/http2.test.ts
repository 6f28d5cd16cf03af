import { createHmac } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { request } from "node:https";
import { connect as connectTcp } from "node:net";
import { setTimeout } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { webhookRoutes } from "../../../src/adapters/github/webhook.ts";
import { createSlackAdapter } from "../../../src/adapters/slack/index.ts";
import { WebhookArrivals } from "../../../src/adapters/webhook-route.ts";
import { systemClock } from "../../../src/app/system.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { waitFor } from "../../support/wait-for.ts";
import { type ApiHarness, type ApiHarnessOptions, startHarness } from "./api-harness.ts";

const FIXTURES = new URL("../../fixtures/tls/", import.meta.url);
const [cert, key] = ["cert.pem", "key.pem"].map((name) => readFileSync(new URL(name, FIXTURES), "utf8")) as [
  string,
  string,
];
const RUNS = "/api/v1/agent/runs";

const opened: { destroy(): void }[] = [];
let harness: ApiHarness | undefined;
afterEach(async () => {
  for (const connection of opened.splice(0)) {
    connection.destroy();
  }
  await harness?.close();
  harness = undefined;
});

async function start(options: ApiHarnessOptions = {}): Promise<ApiHarness> {
  harness = await startHarness({ ...options, tls: { cert, key } });
  return harness;
}

function session({ url }: ApiHarness): ClientHttp2Session {
  const client = connect(url, { ca: cert });
  client.on("error", () => undefined);
  opened.push(client);
  return client;
}

interface Http2Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

async function answerOf(stream: ClientHttp2Stream): Promise<Http2Answer> {
  let text = "";
  let headers: Readonly<Record<string, unknown>> = {};
  stream.on("error", () => undefined);
  stream.on("response", (received) => {
    headers = received;
  });
  stream.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  await once(stream, "close");
  return { status: Number(headers[":status"]), headers, text };
}

function send(
  client: ClientHttp2Session,
  path: string,
  { body, ...headers }: Record<string, string> = {},
): Promise<Http2Answer> {
  const stream = client.request({ ":path": path, ...headers }, { endStream: body === undefined });
  if (body !== undefined) {
    stream.end(body);
  }
  return answerOf(stream);
}

function bearer({ key: apiKey }: ApiHarness): Record<string, string> {
  return { authorization: `Bearer ${apiKey}` };
}

const WRITE = { ":method": "POST", "content-type": "application/json", body: '{"prompt":"do it"}' };

test("a client of HTTP/2 writes once per key, reads and loads files, over one connection", async () => {
  const server = await start();
  const client = session(server);
  const keyed = {
    ...WRITE,
    ...bearer(server),
    "idempotency-key": "once",
    "x-request-id": "traced-by-caller",
  };

  const created = await send(client, RUNS, keyed);
  const again = await send(client, RUNS, keyed);
  const { run_id: id } = JSON.parse(created.text);
  const read = await send(client, `${RUNS}/${id}`, bearer(server));
  const page = await send(client, "/signin", { accept: "text/html" });
  const missing = await send(client, "/nowhere");

  expect([created, again, read, page, missing].map(({ status }) => status)).toEqual([
    200, 200, 200, 200, 404,
  ]);
  expect([created.headers["x-request-id"], again.headers["idempotent-replay"]]).toEqual([
    "traced-by-caller",
    "true",
  ]);
  expect(JSON.parse(read.text).run_id).toBe(id);
  expect(page.headers["content-security-policy"]).toContain("default-src 'none'");
  expect(created.headers.connection).toBeUndefined();
});

test("signed webhooks of Slack and GitHub are stored unchanged over HTTP/2, and a changed body is refused", async () => {
  const secret = "a signing secret";
  const bodies: string[] = [];
  const accept = async ({ body }: { readonly body: string }) => bodies.push(body) > 0;
  const slack = createSlackAdapter(
    { signingSecret: secret, botToken: "xoxb-1", apiUrl: "http://127.0.0.1:1/api/" },
    {
      ...{ accept, clock: systemClock, log: SILENT_LOG },
      answerCommand: async () => "",
      searchChoices: async () => [],
      readBlob: async () => new Uint8Array(),
    },
  );
  const github = webhookRoutes({
    ...{ accept, log: SILENT_LOG },
    arrivals: new WebhookArrivals(),
    secrets: [secret],
  });
  const server = await start({ adapterRoutes: [slack.routes ?? expect.fail("no webhook"), github] });
  const client = session(server);
  const sha256 = (text: string) => createHmac("sha256", secret).update(text).digest("hex");
  const post = { ":method": "POST", "content-type": "application/json" };
  const message = { type: "app_mention", channel: "C1", ts: "1.0", user: "U1", text: "hällo 😀" };
  const slackBody = JSON.stringify({
    ...{ type: "event_callback", team_id: "T1", event_id: "Ev1" },
    event: message,
  });
  const now = String(Math.floor(Date.now() / 1_000));
  const slackHeaders = {
    ...post,
    "x-slack-request-timestamp": now,
    "x-slack-signature": `v0=${sha256(`v0:${now}:${slackBody}`)}`,
  };
  const githubBody = JSON.stringify({ action: "created", repository: { id: 3 }, issue: { number: 7 } });
  const githubHeaders = {
    ...post,
    "x-github-delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
    "x-github-event": "issue_comment",
    "x-hub-signature-256": `sha256=${sha256(githubBody)}`,
  };

  const answers = [
    await send(client, "/webhooks/slack", { ...slackHeaders, body: slackBody }),
    await send(client, "/webhooks/github", { ...githubHeaders, body: githubBody }),
    await send(client, "/webhooks/slack", { ...slackHeaders, body: `${slackBody} ` }),
    await send(client, "/webhooks/github", { ...githubHeaders, body: `${githubBody} ` }),
  ];

  expect(answers.map(({ status }) => status)).toEqual([200, 202, 401, 401]);
  expect(bodies).toEqual([slackBody, githubBody]);
});

test("a browser signs in over HTTP/2, reads and writes with its cookie, and signs out", async () => {
  const origin = "https://errand.example";
  const server = await start({ publicUrl: () => origin });
  const client = session(server);
  const form = { ":method": "POST", "content-type": "application/x-www-form-urlencoded" };
  const fromPage = { origin, "sec-fetch-site": "same-origin" };

  const refused = await send(client, "/signin", { ...form, ...fromPage, body: "key=wrong" });
  const signedIn = await send(client, "/signin", {
    ...{ ...form, ...fromPage },
    body: new URLSearchParams({ key: server.key, next: "/account" }).toString(),
  });
  const [cookie = ""] = String(signedIn.headers["set-cookie"]).split(";");
  const read = await send(client, "/api/v1/agent/whoami", { cookie });
  const created = await send(client, RUNS, { ...WRITE, ...fromPage, cookie });
  const fromElsewhere = await send(client, RUNS, { ...WRITE, origin: "https://evil.test", cookie });
  const signedOut = await send(client, "/signout", { ...form, ...fromPage, cookie, body: "" });
  const afterwards = await send(client, "/api/v1/agent/whoami", { cookie });

  expect(refused.status).toBe(401);
  expect([signedIn.status, signedIn.headers.location]).toEqual([303, "/account"]);
  expect(String(signedIn.headers["set-cookie"])).toMatch(/; HttpOnly; .*Secure/);
  expect([read.status, created.status, fromElsewhere.status]).toEqual([200, 200, 403]);
  expect([signedOut.status, afterwards.status]).toEqual([303, 401]);
});

test("seven event streams and further requests share one connection", async () => {
  const server = await start();
  const client = session(server);
  const streams = Array.from({ length: 7 }, () =>
    client.request({ ":path": "/api/v1/agent/events", accept: "text/event-stream", ...bearer(server) }),
  );
  const seen = streams.map(() => "");
  for (const [index, stream] of streams.entries()) {
    stream.setEncoding("utf8").on("data", (part: string) => {
      seen[index] += part;
    });
  }
  await waitFor(() => seen.every((text) => text.includes("retry:")), { what: "seven open streams" });

  const created = await send(client, RUNS, { ...WRITE, ...bearer(server) });
  const { run_id: id } = JSON.parse(created.text);

  await waitFor(() => seen.every((text) => text.includes(id)), { what: "the new run in each stream" });
  expect(await connectionsOf(server)).toBe(1);
});

test("a server that stops ends event streams over HTTP/2 and closes their connection", async () => {
  const server = await start();
  const client = session(server);
  const stream = client.request({
    ":path": "/api/v1/agent/events",
    accept: "text/event-stream",
    ...bearer(server),
  });
  await once(stream, "response");
  stream.resume();

  const closed = once(client, "close");
  await server.server.close();

  await closed;
  expect(stream.rstCode).toBe(0);
});

test("a reader over HTTP/2 that takes nothing is disconnected, and other readers of its connection stay", async () => {
  const server = await start({ limits: { streamBufferBytes: 1_000, streamStallMs: 200 } });
  const client = session(server);
  const created = await send(client, RUNS, { ...WRITE, ...bearer(server) });
  const { run_id: id } = JSON.parse(created.text);
  await server.edit(id, (edit) => {
    for (let index = 0; index < 40; index += 1) {
      edit.record({ kind: "agent.message", text: "x".repeat(10_000) });
    }
  });
  const options = { accept: "text/event-stream", ...bearer(server) };
  const stalled = client.request({ ":path": `${RUNS}/${id}/events`, ...options });
  stalled.on("error", () => undefined);

  const closed = once(stalled, "close");
  await waitFor(() => server.logged.some((line) => line.includes("stream.reader.stalled")), {
    what: "the disconnected reader",
  });
  stalled.resume();
  await closed;

  expect((await send(client, `${RUNS}/${id}`, bearer(server))).status).toBe(200);
});

test("a response over HTTP/2 that its caller does not read is ended, whatever else the connection does", async () => {
  const server = await start({ limits: { connectionTimeoutMs: 1_000, timeoutCheckMs: 50, heartbeatMs: 50 } });
  const client = connect(server.url, { ca: cert, settings: { initialWindowSize: 0 } });
  client.on("error", () => undefined);
  opened.push(client);
  const paths = ["/healthz", `${RUNS}?limit=1`, "/api/v1/agent/events", "/nowhere"];
  const unread = paths.map((path) => client.request({ ":path": path, ...bearer(server) }));
  let pings = 0;
  const pinging = setInterval(() => client.ping(() => (pings += 1)), 50);

  const answers = await Promise.all(unread.map(answerOf)).finally(() => clearInterval(pinging));

  expect(answers.map(({ text }) => text)).toEqual(["", "", "", ""]);
  expect(unread.map(({ rstCode }) => rstCode)).toEqual([8, 8, 8, 8]);
  expect(pings).toBeGreaterThan(3);
});

test("slow callers over HTTP/2 get a large response completely, and idle event streams stay open", async () => {
  const server = await start({ limits: { connectionTimeoutMs: 1_000, timeoutCheckMs: 50 } });
  const size = 150_000;
  const written = await send(session(server), RUNS, {
    ...WRITE,
    ...bearer(server),
    body: JSON.stringify({ prompt: "x".repeat(size) }),
  });
  const client = connect(server.url, { ca: cert, settings: { initialWindowSize: 16_384 } });
  client.on("error", () => undefined);
  opened.push(client);
  const idle = client.request({ ":path": "/api/v1/agent/events", ...bearer(server) });
  await once(idle, "response");
  const read = client.request({ ":path": `${RUNS}/${JSON.parse(written.text).run_id}`, ...bearer(server) });
  let bytes = 0;
  for await (const part of read) {
    bytes += part.length;
    await setTimeout(150);
  }

  expect(bytes).toBeGreaterThan(size);
  expect([idle.closed, idle.destroyed]).toEqual([false, false]);
});

test("a request over HTTP/2 that does not arrive in time is answered with 408, and its connection stays", async () => {
  const server = await start({ limits: { headersTimeoutMs: 300, requestTimeoutMs: 300 } });
  const client = session(server);
  const { body: _, ...headers } = { ...WRITE, ...bearer(server) };
  const slow = client.request({ ":path": RUNS, ...headers });
  slow.write('{"prompt":');

  const answer = await answerOf(slow);

  expect(answer.status).toBe(408);
  expect(JSON.parse(answer.text)).toMatchObject({ code: "invalid_request", retryable: true });
  expect((await send(client, `${RUNS}?limit=1`, bearer(server))).status).toBe(200);
});

test.each(["h2", "http/1.1"])(
  "a body that arrives byte by byte over %s is answered with 408 when its time is over",
  async (protocol) => {
    const server = await start({
      limits: { headersTimeoutMs: 300, requestTimeoutMs: 400, timeoutCheckMs: 100 },
    });
    const { body: _, ...headers } = { ...WRITE, ...bearer(server) };
    const { ":method": method, ...plain } = headers;
    const over1 = () => request(`${server.url}${RUNS}`, { ca: cert, agent: false, method, headers: plain });
    const slow = protocol === "h2" ? session(server).request({ ":path": RUNS, ...headers }) : over1();
    slow.on("error", () => undefined);
    const drip = setInterval(() => slow.writable && slow.write(" "), 20);
    slow.write("{");

    const [head] = await once(slow, "response");
    clearInterval(drip);
    slow.destroy();

    expect(head.statusCode ?? head[":status"]).toBe(408);
  },
);

test("a connection that does not finish its TLS handshake is closed in time, whatever it has sent", async () => {
  const server = await start({ limits: { headersTimeoutMs: 300 } });
  // The beginning of a handshake record (https://www.rfc-editor.org/rfc/rfc8446#section-5.1), and nothing at all.
  const sockets = [Buffer.of(22, 3, 1, 1, 0), Buffer.alloc(0)].map((bytes) => {
    const socket = connectTcp(Number(new URL(server.url).port), "127.0.0.1");
    opened.push(socket);
    socket
      .on("error", () => undefined)
      .resume()
      .write(bytes);
    return socket;
  });

  await Promise.all(sockets.map((socket) => once(socket, "close")));

  expect((await send(session(server), "/healthz")).status).toBe(200);
});

test("a connection over HTTP/2 without a request is closed, at first and after its last response", async () => {
  const server = await start({ limits: { headersTimeoutMs: 200, keepAliveMs: 200 } });
  const [silent, idle] = [session(server), session(server)];
  const both = Promise.all([once(silent, "close"), once(idle, "close")]);

  const { status } = await send(idle, "/healthz");
  await both;

  expect(status).toBe(200);
  expect([silent.destroyed, idle.destroyed]).toEqual([true, true]);
});

/** https://www.rfc-editor.org/rfc/rfc9113#section-4.1 */
function frame(type: number, stream = 0, payload = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const [HEADERS, SETTINGS, PING, CONTINUATION] = [1, 4, 6, 9] as const;
/** `:method: GET`, without an end of the headers. */
const UNFINISHED_REQUEST = frame(HEADERS, 1, Buffer.from([0x82]));

test.each([
  ["PING", [], frame(PING, 0, Buffer.alloc(8))],
  ["SETTINGS", [], frame(SETTINGS)],
  ["CONTINUATION", [UNFINISHED_REQUEST], frame(CONTINUATION, 1)],
])(
  "a flood of %s frames ends its connection, and other callers are answered",
  async (_type, first, flood) => {
    const server = await start();
    const other = session(server);
    const socket = connectTls({
      port: Number(new URL(server.url).port),
      ca: cert,
      ALPNProtocols: ["h2"],
    });
    opened.push(socket);
    socket.on("error", () => undefined).resume();
    const closed = once(socket, "close");
    const frames = Array.from({ length: 50_000 }, () => flood);

    socket.write(Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(SETTINGS), ...first]));
    socket.write(Buffer.concat(frames));
    const { status } = await send(other, "/healthz");
    await closed;

    expect(status).toBe(200);
  },
);

test.each([
  ["a host that differs from the authority", { ":authority": "one.example", host: "two.example" }, 400],
  ["the same host as the authority", { ":authority": "one.example", host: "one.example" }, 200],
  ["an unknown expectation", { expect: "magic" }, 417],
] as const)("a request over HTTP/2 with %s is answered as over HTTP/1.1", async (_what, headers, status) => {
  const server = await start();

  const answer = await send(session(server), "/healthz", headers);

  expect(answer.status).toBe(status);
});

test("a client that speaks only HTTP/1.1 reads, streams and is cut off when it is slow", async () => {
  const server = await start({
    limits: { headersTimeoutMs: 300, requestTimeoutMs: 400, timeoutCheckMs: 100 },
  });

  const read = await get(server, `${RUNS}?limit=1`);
  const stream = await get(server, "/api/v1/agent/events", { accept: "text/event-stream" });
  stream.response.destroy();
  const socket = connectTls({
    port: Number(new URL(server.url).port),
    ca: cert,
    ALPNProtocols: ["http/1.1"],
  });
  opened.push(socket);
  socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ");
  const cut = await answerOn(socket);

  expect([read.response.statusCode, read.response.httpVersion]).toEqual([200, "1.1"]);
  expect([stream.response.statusCode, stream.response.headers.connection]).toEqual([200, "close"]);
  expect(cut).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
});

async function get(
  server: ApiHarness,
  path: string,
  headers: Record<string, string> = {},
): Promise<{ readonly response: import("node:http").IncomingMessage }> {
  const outgoing = request(`${server.url}${path}`, {
    ca: cert,
    agent: false,
    headers: { ...bearer(server), ...headers },
  });
  outgoing.end();
  const [response] = await once(outgoing, "response");
  response.on("error", () => undefined).resume();
  return { response };
}

async function answerOn(socket: ReturnType<typeof connectTls>): Promise<string> {
  let text = "";
  socket.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  await once(socket, "close");
  return text;
}

function connectionsOf({ server }: ApiHarness): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  return promise;
}

test("answers that callers do not read share the bytes of the documents that everybody may read", async () => {
  const server = await start();
  const paths = ["/api/v1/openapi.json", "/docs/scalar.js"];
  const sizes = await Promise.all(
    paths.map(async (path) => (await answerOf(session(server).request({ ":path": path }))).text.length),
  );
  const before = process.memoryUsage().external;

  for (let count = 0; count < 4; count += 1) {
    const client = connect(server.url, { ca: cert, settings: { initialWindowSize: 0 } });
    client.on("error", () => undefined);
    opened.push(client);
    const unread = Array.from({ length: 50 }, (_, index) => client.request({ ":path": paths[index % 2] }));
    await Promise.all(
      unread.map((stream) =>
        once(
          stream.on("error", () => undefined),
          "response",
        ),
      ),
    );
  }

  // 100 copies of each would be 100 times as much.
  const total = sizes.reduce((sum, size) => sum + size, 0);
  expect(process.memoryUsage().external - before).toBeLessThan(10 * total);
});
