import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { type RequestOptions, request } from "node:https";
import { connect as connectTcp } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { afterEach, expect, test } from "vitest";
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

function begin({ url }: ApiHarness, path: string, options: RequestOptions = {}) {
  const outgoing = request(`${url}${path}`, { ca: cert, agent: false, ...options });
  outgoing.on("error", () => undefined);
  opened.push(outgoing);
  return outgoing;
}

async function responseTo(outgoing: ReturnType<typeof begin>): Promise<IncomingMessage> {
  const [response] = await once(outgoing, "response");
  return response.on("error", () => undefined);
}

async function send(
  server: ApiHarness,
  path: string,
  { body, ...headers }: Record<string, string> = {},
): Promise<{ readonly status: number; readonly headers: IncomingMessage["headers"]; readonly text: string }> {
  const outgoing = begin(server, path, { method: body === undefined ? "GET" : "POST", headers });
  outgoing.end(body);
  const response = await responseTo(outgoing);
  const parts = await response.toArray();
  return {
    status: Number(response.statusCode),
    headers: response.headers,
    text: Buffer.concat(parts).toString(),
  };
}

function connect({ url }: ApiHarness, protocols: string[] = ["http/1.1"]): TLSSocket {
  const socket = connectTls({ port: Number(new URL(url).port), ca: cert, ALPNProtocols: protocols });
  socket.on("error", () => undefined);
  opened.push(socket);
  return socket;
}

async function answerOn(socket: TLSSocket): Promise<string> {
  let text = "";
  socket.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  await once(socket, "close");
  return text;
}

function bearer({ key: apiKey }: ApiHarness): Record<string, string> {
  return { authorization: `Bearer ${apiKey}` };
}

const WRITE = { "content-type": "application/json", body: '{"prompt":"do it"}' };

test("a client writes once per key and reads", async () => {
  const server = await start();
  const keyed = {
    ...WRITE,
    ...bearer(server),
    "idempotency-key": "once",
    "x-request-id": "traced-by-caller",
  };

  const created = await send(server, RUNS, keyed);
  const again = await send(server, RUNS, keyed);
  const { run_id: id } = JSON.parse(created.text);
  const read = await send(server, `${RUNS}/${id}`, bearer(server));
  const page = await send(server, "/signin", { accept: "text/html" });
  const missing = await send(server, "/nowhere");

  expect([created, again, read, page, missing].map(({ status }) => status)).toEqual([
    200, 200, 200, 200, 404,
  ]);
  expect([created.headers["x-request-id"], again.headers["idempotent-replay"]]).toEqual([
    "traced-by-caller",
    "true",
  ]);
  expect(JSON.parse(read.text).run_id).toBe(id);
  expect(page.headers["content-security-policy"]).toContain("default-src 'none'");
});

test("a browser signs in, reads and writes with its cookie, and signs out", async () => {
  const origin = "https://errand.example";
  const server = await start({ publicUrl: () => origin });
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const fromPage = { origin, "sec-fetch-site": "same-origin" };

  const refused = await send(server, "/signin", { ...form, ...fromPage, body: "key=wrong" });
  const signedIn = await send(server, "/signin", {
    ...{ ...form, ...fromPage },
    body: new URLSearchParams({ key: server.key, next: "/account" }).toString(),
  });
  const [cookie = ""] = String(signedIn.headers["set-cookie"]).split(";");
  const read = await send(server, "/api/v1/agent/whoami", { cookie });
  const created = await send(server, RUNS, { ...WRITE, ...fromPage, cookie });
  const fromElsewhere = await send(server, RUNS, { ...WRITE, origin: "https://evil.test", cookie });
  const signedOut = await send(server, "/signout", { ...form, ...fromPage, cookie, body: "" });
  const afterwards = await send(server, "/api/v1/agent/whoami", { cookie });

  expect(refused.status).toBe(401);
  expect([signedIn.status, signedIn.headers.location]).toEqual([303, "/account"]);
  expect(String(signedIn.headers["set-cookie"])).toMatch(/; HttpOnly; .*Secure/);
  expect([read.status, created.status, fromElsewhere.status]).toEqual([200, 200, 403]);
  expect([signedOut.status, afterwards.status]).toEqual([303, 401]);
});

test("a client that prefers HTTP/2 is answered over HTTP/1.1", async () => {
  const server = await start();
  const socket = connect(server, ["h2", "http/1.1"]);

  await once(socket, "secureConnect");
  socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");

  expect(socket.alpnProtocol).toBe("http/1.1");
  expect(await answerOn(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
});

test("an event stream ends when the server stops", async () => {
  const server = await start();
  const outgoing = begin(server, "/api/v1/agent/events", {
    headers: { ...bearer(server), accept: "text/event-stream" },
  });
  outgoing.end();
  const stream = (await responseTo(outgoing)).resume();

  const ended = once(stream, "end");
  await server.server.close();

  await ended;
  expect([stream.statusCode, stream.headers.connection]).toEqual([200, "close"]);
});

test("headers and a body that arrive too slowly are answered with 408", async () => {
  const limits = { headersTimeoutMs: 300, requestTimeoutMs: 400, timeoutCheckMs: 100 };
  const server = await start({ limits });
  const socket = connect(server);
  const outgoing = begin(server, RUNS, {
    method: "POST",
    headers: { "content-type": "application/json", ...bearer(server) },
  });
  const drip = setInterval(() => outgoing.writable && outgoing.write(" "), 20);

  socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ");
  outgoing.write("{");
  const [cut, response] = await Promise.all([answerOn(socket), responseTo(outgoing)]);
  clearInterval(drip);

  expect(cut).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
  expect(response.statusCode).toBe(408);
});

test("a connection without a request is closed, at first and after its last response", async () => {
  const limits = { headersTimeoutMs: 200, keepAliveMs: 200, requestTimeoutMs: 400, timeoutCheckMs: 50 };
  const server = await start({ limits });
  const [silent, idle] = [connect(server), connect(server)];

  idle.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  const [, answer] = await Promise.all([answerOn(silent), answerOn(idle)]);

  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
});

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

  expect((await send(server, "/healthz")).status).toBe(200);
});
