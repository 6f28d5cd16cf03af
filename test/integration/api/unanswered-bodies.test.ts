import { createHmac } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { webhookRoutes } from "../../../src/adapters/github/webhook.ts";
import { WebhookArrivals } from "../../../src/adapters/webhook-route.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { waitFor } from "../../support/wait-for.ts";
import { call } from "./api-caller.ts";
import { type ApiHarness, type ApiHarnessOptions, startHarness } from "./api-harness.ts";

const RUNS = "/api/v1/agent/runs";
const UNANSWERED_MAX = 2 ** 20;
const LONG = 700_000;
const CHUNKED = "Transfer-Encoding: chunked";

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
  const limits = { unansweredBodies: UNANSWERED_MAX, bodyBytes: 4 * UNANSWERED_MAX };
  harness = await startHarness({ ...options, limits });
  return harness;
}

/** The schema ignores the unknown member. */
const BODY = { prompt: "do it", pad: "x".repeat(LONG) };

/** Sends the start of a request with a long body, whose end never comes, and waits until the server has it. */
async function begin(
  server: ApiHarness,
  path: string,
  length = `Content-Length: ${2 * LONG}`,
): Promise<Socket> {
  const accepted = once(server.server.server, "connection");
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  opened.push(socket);
  socket.on("error", () => undefined);
  const [arriving]: Socket[] = await accepted;
  const head = [`POST ${path} HTTP/1.1`, "Host: x", `Authorization: Bearer ${server.key}`];
  socket.write([...head, "Content-Type: application/json", length, "", ""].join("\r\n"));
  const text = "x".repeat(LONG);
  socket.write(length === CHUNKED ? `${LONG.toString(16)}\r\n${text}\r\n` : text);
  await waitFor(() => Number(arriving?.bytesRead) > LONG, { what: "the start of the body" });
  return socket;
}

const sendLong = async (server: ApiHarness, key = server.key) =>
  (await call(server, RUNS, { body: BODY, key })).status;

test.each([
  ["with a length", undefined],
  ["in chunks", CHUNKED],
])(
  "a caller whose long body %s does not end may send no other one, but short ones, and other callers may send both",
  async (_how, length) => {
    const server = await start();
    const colleague = await server.addUser("ann", { scopes: ["runs:write"] });
    const unfinished = await begin(server, RUNS, length);

    const refused = await call(server, RUNS, { body: BODY });
    const short = await call(server, RUNS, { body: { prompt: "do it" } });
    const other = await sendLong(server, colleague);

    expect(refused.body).toMatchObject({ status: 429, code: "resource_unavailable", retryable: true });
    expect([short.status, other]).toEqual([200, 200]);
    unfinished.destroy();
    await waitFor(async () => (await sendLong(server)) === 200, { what: "room for a long body" });
  },
);

test("a caller whose long bodies are answered may send any number of them", async () => {
  const server = await start();

  const statuses = [await sendLong(server), await sendLong(server), await sendLong(server)];

  expect(statuses).toEqual([200, 200, 200]);
});

test("unfinished webhooks of a stranger keep out no short webhook of the same address", async () => {
  const secret = "a signing secret";
  const github = webhookRoutes({
    ...{ accept: async () => true, log: SILENT_LOG },
    arrivals: new WebhookArrivals(),
    secrets: [secret],
  });
  const server = await start({ adapterRoutes: [github] });
  await begin(server, "/webhooks/github");
  expect((await call(server, "/webhooks/github", { body: BODY, key: null })).status).toBe(429);
  const body = JSON.stringify({ action: "created", repository: { id: 3 }, issue: { number: 7 } });
  const signature = createHmac("sha256", secret).update(body).digest("hex");

  const { status } = await call(server, "/webhooks/github", {
    ...{ body, key: null },
    headers: {
      "x-github-delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
      "x-github-event": "issue_comment",
      "x-hub-signature-256": `sha256=${signature}`,
    },
  });

  expect(status).toBe(202);
});

test("a caller that leaves while the rest of its refused body is dropped does not affect the server", async () => {
  const server = await start();
  const tooLong = await begin(server, RUNS, CHUNKED);
  for (let sent = 0; sent < 5 * UNANSWERED_MAX; sent += LONG) {
    tooLong.write(`${LONG.toString(16)}\r\n${"x".repeat(LONG)}\r\n`);
  }
  await once(tooLong, "readable");
  const answer = String(tooLong.read());
  tooLong.destroy();

  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  expect(await sendLong(server)).toBe(200);
});
