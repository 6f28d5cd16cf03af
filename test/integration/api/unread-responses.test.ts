import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { waitFor } from "../../support/wait-for.ts";
import { call } from "./api-caller.ts";
import { type ApiHarness, PUBLIC_URL, startHarness } from "./api-harness.ts";

const RUNS = "/api/v1/agent/runs";
/** More than the buffers of both sockets hold, so that the server keeps most of it. */
const TEXT = "x".repeat(240_000);
const EVENTS = 60;
const UNREAD_MAX = 20_000_000;

const opened: Socket[] = [];
let harness: ApiHarness | undefined;
afterEach(async () => {
  for (const socket of opened.splice(0)) {
    socket.destroy();
  }
  await harness?.close();
  harness = undefined;
});

test("a caller that reads none of its long responses gets no further one, and other callers do", async () => {
  const server = await start();
  const colleague = await server.addUser("ann", { scopes: ["runs:write"] });
  const run = await longRun(server);
  const conversation = `${RUNS}/${run}/conversation`;
  const unread = await ask(server, conversation);
  await once(unread, "readable");

  const [second, short, written, other] = [
    await call(server, conversation),
    await call(server, `${RUNS}/${run}`),
    await call(server, RUNS, { body: { prompt: "do it" } }),
    await call(server, conversation, { key: colleague }),
  ];

  expect(second).toMatchObject({ status: 429, body: { code: "resource_unavailable", retryable: true } });
  expect(second.headers.get("retry-after-ms")).toBe("1000");
  expect([short.status, written.status, other.status]).toEqual([200, 200, 200]);
});

test("a caller that reads its long responses, or leaves, gets any number of them", async () => {
  const server = await start();
  const conversation = `${RUNS}/${await longRun(server)}/conversation`;

  const statuses = [(await call(server, conversation)).status, (await call(server, conversation)).status];
  const left = await ask(server, conversation);
  await once(left, "readable");
  left.destroy();
  await waitFor(async () => (await call(server, conversation)).status === 200, {
    what: "room for a response",
  });

  expect(statuses).toEqual([200, 200]);
});

test("long responses that are asked for at the same time are refused while they are read from the log", async () => {
  const server = await start();
  const conversation = `${RUNS}/${await longRun(server)}/conversation`;

  const answers = await Promise.all(Array.from({ length: 6 }, () => call(server, conversation)));

  const statuses = answers.map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
});

test("guests of all links of one creator share what they may leave unread", async () => {
  const server = await start();
  const colleague = await server.addUser("ann", { scopes: ["runs:write"] });
  const run = await longRun(server);
  const conversation = `${RUNS}/${run}/conversation`;
  const [first, second, other] = [
    await guestOf(server, run),
    await guestOf(server, run),
    await guestOf(server, run, colleague),
  ];
  const unread = await ask(server, conversation, `Cookie: ${first}`);
  await once(unread, "readable");
  const statusFor = async (cookie: string) =>
    (await call(server, conversation, { key: null, headers: { cookie } })).status;

  expect([await statusFor(second), await statusFor(other)]).toEqual([429, 200]);
  expect((await call(server, conversation)).status).toBe(200);
});

async function start(): Promise<ApiHarness> {
  harness = await startHarness({ limits: { unreadResponses: UNREAD_MAX } });
  return harness;
}

/** Returns a run whose conversation has more than half of `UNREAD_MAX`. */
async function longRun(server: ApiHarness): Promise<string> {
  const { run_id: id } = (await call(server, RUNS, { body: { prompt: "talk" } })).body;
  for (let count = 0; count < EVENTS; count += 20) {
    await server.edit(id, (edit) => {
      for (let index = 0; index < 20; index += 1) {
        edit.record({ kind: "agent.message", text: TEXT });
      }
    });
  }
  return id;
}

/** Creates a share link of the run, and returns the cookie of a guest who opened it. */
async function guestOf(server: ApiHarness, run: string, key = server.key): Promise<string> {
  const { url } = (await call(server, `${RUNS}/${run}/share-links`, { body: {}, key })).body;
  const { headers } = await call(server, url.slice(PUBLIC_URL.length), { key: null });
  const ofRun = headers.getSetCookie().find((line) => line.includes(`Path=${RUNS}/`));
  return ofRun?.split(";")[0] ?? "";
}

/** Sends a request whose response is not read. */
async function ask(
  server: ApiHarness,
  path: string,
  credentials = `Authorization: Bearer ${server.key}`,
): Promise<Socket> {
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  opened.push(socket);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${credentials}\r\n\r\n`);
  return socket;
}
