import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { SYSTEM_CLOCK } from "../src/http/clock.ts";
import { Errand } from "../src/index.ts";

const ID = "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d6e";
const AT = "2026-03-01T09:00:00.000Z";

/** A server with one run. `states` are what the reads of the run see, the last one for ever. */
async function aServer(states: readonly string[], waits: boolean) {
  const asked: string[] = [];
  const left = [...states];
  let nowMs = 0;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "", "http://localhost");
    const isStream = request.headers.accept === "text/event-stream";
    asked.push(
      isStream ? "stream" : url.searchParams.has("wait") ? `wait ${url.searchParams.get("wait")}` : "read",
    );
    const send = (body: unknown) => {
      response.setHeader("content-type", "application/json").end(JSON.stringify(body));
    };
    if (isStream) {
      left.splice(0, left.length, "SUCCEEDED");
      const event = { kind: "run.state", run_id: ID, seq: 2, from: "INPROGRESS", to: "SUCCEEDED" };
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(`id: 2\ndata: ${JSON.stringify(event)}\n\n`);
    } else if (url.pathname.endsWith("/events")) {
      send({ events: [], next_after: 1 });
    } else {
      const state = left.length > 1 ? left.shift() : left[0];
      nowMs += waits && url.searchParams.has("wait") ? 30_000 : 10;
      const others = {
        title: "",
        prompt: "",
        source: "API",
        creator: { uid: "u" },
        is_sandbox_running: true,
      };
      const times = { created_at: AT, updated_at: AT };
      send({ run_id: ID, task_id: ID, root_run_id: ID, state, ...others, ...times });
    }
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const clock = { ...SYSTEM_CLOCK, now: () => nowMs };
  const client = new Errand({ baseUrl: `http://127.0.0.1:${port}`, apiKey: "any", clock });
  return { asked, client, stop: () => server.close() };
}

test("the server is asked to wait, again until the run has ended, and no events are read", async () => {
  const { asked, client, stop } = await aServer(["INPROGRESS", "SUCCEEDED"], true);

  const run = await client.runs.waitForCompletion(ID);
  stop();

  expect(run.state).toBe("SUCCEEDED");
  expect(asked).toEqual(["read", "wait 50", "wait 50"]);
});

test("a server that does not wait is asked once, and then its events are followed", async () => {
  const { asked, client, stop } = await aServer(["INPROGRESS"], false);

  const run = await client.runs.waitForCompletion(ID);
  stop();

  expect(run.state).toBe("SUCCEEDED");
  expect(asked).toEqual(["read", "wait 50", "stream", "read"]);
});

test("a run that waits for a person is followed by its events, unless the wait ends there", async () => {
  const { asked, client, stop } = await aServer(["BLOCKED"], true);

  const blocked = await client.runs.waitForCompletion(ID, { untilBlocked: true });
  const run = await client.runs.waitForCompletion(ID);
  stop();

  expect([blocked.state, run.state]).toEqual(["BLOCKED", "SUCCEEDED"]);
  expect(asked).toEqual(["read", "wait 50", "read", "wait 50", "stream", "read"]);
});
