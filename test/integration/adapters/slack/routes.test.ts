import { createHmac } from "node:crypto";
import { inspect } from "node:util";
import Fastify, { type FastifyInstance, type InjectOptions } from "fastify";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSlackAdapter } from "../../../../src/adapters/slack/index.ts";
import { systemClock } from "../../../../src/app/system.ts";
import type { InboxEvent } from "../../../../src/core/ports/thread-adapter.ts";
import { EMPTY_VIEWS } from "../../../support/person-views.ts";

type Stored = Omit<InboxEvent, "id" | "receivedAt">;

const SECRET = "8f742231b10e8888abcd99yyyzzz85a5";
const TOKEN = "xoxb-1-2-CANARY";
const config = { signingSecret: SECRET, botToken: TOKEN, apiUrl: "http://127.0.0.1:1/api/" };

let server: FastifyInstance;
let inbox: Map<string, Stored>;
let lines: string[];
let accept: (event: Stored) => Promise<boolean>;

async function put(event: Stored): Promise<boolean> {
  if (inbox.has(event.deliveryId)) {
    return false;
  }
  inbox.set(event.deliveryId, event);
  return true;
}

beforeEach(async () => {
  inbox = new Map();
  lines = [];
  accept = put;
  const write = (...line: unknown[]) => lines.push(inspect(line, { depth: 20 }));
  const log = { info: write, warn: write, error: write };
  server = Fastify();
  const { routes } = createSlackAdapter(config, {
    ...{ clock: systemClock, log },
    accept: (event) => accept(event),
    answerCommand: async () => "",
    searchChoices: async () => [],
    views: EMPTY_VIEWS,
    readBlob: async () => new Uint8Array(),
  });
  await server.register(routes ?? expect.fail("There is no webhook."));
  server.post("/elsewhere", async (request) => ({ parsed: request.body }));
  await server.ready();
});

afterEach(async () => {
  await server.close();
});

function nowSeconds(): number {
  return Math.floor(Date.now() / 1_000);
}

function signature(body: string | Buffer, timestamp: number | string, secret = SECRET): string {
  return `v0=${createHmac("sha256", secret).update(`v0:${timestamp}:`).update(body).digest("hex")}`;
}

function send(body: string | Buffer, headers: Record<string, string> = {}) {
  const timestamp = String(headers["x-slack-request-timestamp"] ?? nowSeconds());
  const request: InjectOptions = {
    method: "POST",
    url: "/webhooks/slack",
    body,
    headers: {
      "content-type": "application/json",
      "x-slack-request-timestamp": timestamp,
      "x-slack-signature": signature(body, timestamp),
      ...headers,
    },
  };
  return server.inject(request);
}

function sendForm(fields: Record<string, string>, headers: Record<string, string> = {}) {
  const type = "application/x-www-form-urlencoded; charset=utf-8";
  return send(new URLSearchParams(fields).toString(), { "content-type": type, ...headers });
}

function anEvent(eventId = "Ev1", changes: object = {}): string {
  const event = { type: "app_mention", channel: "C1", ts: "1.0", user: "U1", text: "<@U0> hällo 😀" };
  return JSON.stringify({ type: "event_callback", team_id: "T1", event_id: eventId, event, ...changes });
}

describe("a signed event", () => {
  test("a signed event is stored unchanged and acknowledged", async () => {
    const response = await send(anEvent());

    expect(response.statusCode).toBe(200);
    expect([...inbox.values()]).toEqual([
      {
        adapter: "slack",
        orderingKey: "slack:C1/1.0",
        deliveryId: "Ev1",
        name: "app_mention",
        body: anEvent(),
      },
    ]);
  });

  test("a signed event is stored before it is acknowledged", async () => {
    let storedAt = 0;
    accept = async (event) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      storedAt = performance.now();
      return put(event);
    };

    await send(anEvent());

    expect(storedAt, "not stored when the acknowledgement came").toBeGreaterThan(0);
  });

  test("an event delivered four times, some at once and with Slack's retry header, is stored once", async () => {
    const retry = (num: string) => ({ "x-slack-retry-num": num, "x-slack-retry-reason": "http_timeout" });
    const first = await Promise.all([send(anEvent()), send(anEvent(), retry("1"))]);
    const later = [await send(anEvent(), retry("2")), await send(anEvent(), retry("3"))];

    expect([...first, ...later].map((response) => response.statusCode)).toEqual([200, 200, 200, 200]);
    expect(inbox.size).toBe(1);
  });

  test("an event whose first delivery never arrived is stored from its retry", async () => {
    const response = await send(anEvent(), {
      "x-slack-retry-num": "1",
      "x-slack-retry-reason": "http_error",
    });

    expect(response.statusCode).toBe(200);
    expect(inbox.has("Ev1")).toBe(true);
  });

  test("a signed event without an id gets a stable one", async () => {
    const event = JSON.stringify({ type: "app_requested", team_id: "T1" });

    await send(event);
    await send(event);

    expect([...inbox.values()]).toEqual([expect.objectContaining({ name: "app_requested" })]);
  });

  test("a signed event of two megabytes is stored, and one above the limit is refused", async () => {
    const large = anEvent("Ev2", { padding: "x".repeat(2_000_000) });
    const tooLarge = anEvent("Ev3", { padding: "x".repeat(5_000_000) });

    expect((await send(large)).statusCode).toBe(200);
    expect((await send(tooLarge)).statusCode).toBe(413);
    expect([...inbox.keys()]).toEqual(["Ev2"]);
    expect(lines.filter((line) => line.includes("slack.webhook.refused"))).toEqual([
      expect.stringContaining("FST_ERR_CTP_BODY_TOO_LARGE"),
    ]);
  });
});

describe("a request that Slack did not sign", () => {
  const now = nowSeconds();
  test.each([
    [
      "with another secret",
      { "x-slack-signature": signature(anEvent(), now, "other"), "x-slack-request-timestamp": `${now}` },
    ],
    [
      "for another body",
      { "x-slack-signature": signature("{}", now), "x-slack-request-timestamp": `${now}` },
    ],
    [
      "of an unknown version",
      {
        "x-slack-signature": signature(anEvent(), now).replace("v0", "v1"),
        "x-slack-request-timestamp": `${now}`,
      },
    ],
    ["with an empty signature", { "x-slack-signature": "" }],
    ["301 s old", { "x-slack-request-timestamp": `${now - 301}` }],
    ["further than 300 s in the future", { "x-slack-request-timestamp": `${now + 400}` }],
    ["of an endless future", { "x-slack-request-timestamp": "Infinity" }],
    ["without a time that is a number", { "x-slack-request-timestamp": "soon" }],
  ])("%s is refused and not stored", async (_name, headers) => {
    const response = await send(anEvent(), headers);

    expect(response.statusCode).toBe(401);
    expect(response.headers["x-request-id"]).toBeTruthy();
    expect(response.headers["content-type"]).toContain("application/problem+json");
    expect(inbox.size).toBe(0);
  });

  test("a request without any signature header is refused", async () => {
    const response = await server.inject({ method: "POST", url: "/webhooks/slack", body: anEvent() });

    expect(response.statusCode).toBe(401);
    expect(inbox.size).toBe(0);
  });

  test("an unsigned request is refused before it is parsed", async () => {
    const response = await send("[".repeat(100_000), { "x-slack-signature": "v0=no" });

    expect(response.statusCode).toBe(401);
  });

  test("a request with a timestamp within five minutes of the server's clock is accepted", async () => {
    const ahead = await send(anEvent("Ev1"), { "x-slack-request-timestamp": `${nowSeconds() + 250}` });
    const positionAfter = await send(anEvent("Ev2"), {
      "x-slack-request-timestamp": `${nowSeconds() - 250}`,
    });

    expect([ahead.statusCode, positionAfter.statusCode]).toEqual([200, 200]);
  });
});

describe("Slack's checks", () => {
  const challenge = JSON.stringify({ type: "url_verification", challenge: "3eZbrw1aB", token: "t" });

  test("the signed challenge is answered, the unsigned one refused, neither is stored", async () => {
    const signed = await send(challenge);
    const unsigned = await send(challenge, { "x-slack-signature": "v0=0" });

    expect(signed.json()).toEqual({ challenge: "3eZbrw1aB" });
    expect(unsigned.statusCode).toBe(401);
    expect(unsigned.body).not.toContain("3eZbrw1aB");
    expect(inbox.size).toBe(0);
  });

  test("the unsigned check of the certificate stores nothing, whatever it contains", async () => {
    const fields = { ssl_check: "1", token: "t", payload: anEvent() };

    const response = await sendForm(fields, { "x-slack-signature": "" });

    expect(response.statusCode).toBe(200);
    expect(inbox.size).toBe(0);
  });
});

describe("an event that cannot be stored", () => {
  test("an event is answered 503 at once if the store fails, so that Slack delivers again", async () => {
    accept = async () => Promise.reject(new Error("connection refused"));

    const response = await send(anEvent());

    expect(response.statusCode).toBe(503);
    expect(response.headers["x-slack-no-retry"]).toBeUndefined();
    expect(response.body).not.toContain("connection refused");
  });

  test("an event is answered 503 within 3 s if the store does not answer, and its late failure has no effect", async () => {
    let fail: (error: Error) => void = () => undefined;
    accept = () =>
      new Promise((_resolve, reject) => {
        fail = reject;
      });
    const start = performance.now();

    const response = await send(anEvent());
    fail(new Error("too late"));

    expect(response.statusCode).toBe(503);
    expect(performance.now() - start).toBeLessThan(3_000);
  });

  test("an event that could not be stored is stored at the next delivery", async () => {
    accept = async () => Promise.reject(new Error("down"));
    await send(anEvent());
    accept = put;

    const response = await send(anEvent(), { "x-slack-retry-num": "1" });

    expect(response.statusCode).toBe(200);
    expect(inbox.size).toBe(1);
  });
});

describe("signed forms", () => {
  const payload = JSON.stringify({ type: "block_actions", trigger_id: "1.2.abc", actions: [] });

  test("forms of a pressed button are stored once as their payload, with any charset", async () => {
    await sendForm({ payload });
    const response = await sendForm({ payload });

    expect(response.statusCode).toBe(200);
    expect([...inbox.values()]).toEqual([expect.objectContaining({ name: "block_actions", body: payload })]);
  });

  test.each([["help"], [""], [" HELP "]])(
    "the command %j is answered at once, and not stored",
    async (text) => {
      const response = await sendForm({ command: "/errand", text, trigger_id: "1" });

      expect(response.json()).toEqual({
        response_type: "ephemeral",
        text: expect.stringContaining("@errand"),
      });
      expect(inbox.size).toBe(0);
    },
  );

  test("a command with a task is stored once, without what Slack gives to answer it", async () => {
    const form = { command: "/errand", text: "fix it", team_id: "T1", user_id: "U1", channel_id: "C1" };
    const secrets = { token: "CANARY", response_url: "https://hooks.slack.com/CANARY" };
    await sendForm({ ...form, ...secrets, trigger_id: "1.2.abc" });
    const response = await sendForm({ ...form, ...secrets, trigger_id: "1.2.abc" });

    expect(response.statusCode).toBe(200);
    const [stored, ...others] = [...inbox.values()];
    expect(others).toEqual([]);
    expect(stored?.body).toContain("fix it");
    expect(stored?.body).not.toContain("CANARY");
  });

  test("a command that cannot be stored says so, because Slack does not deliver it again", async () => {
    accept = async () => Promise.reject(new Error("down"));

    const response = await sendForm({ command: "/errand", text: "fix it", trigger_id: "1" });

    expect([response.statusCode, response.json().text]).toEqual([200, expect.stringMatching(/Try it again/)]);
  });

  test("signed forms of an unknown kind are answered 400", async () => {
    expect((await sendForm({ nothing: "known" })).statusCode).toBe(400);
    expect((await sendForm({ payload: "{" })).statusCode).toBe(400);
    expect((await send("{")).statusCode).toBe(400);
    expect((await send("")).statusCode).toBe(400);
    expect((await send("null")).statusCode).toBe(400);
    expect(inbox.size).toBe(0);
  });
});

test("messages that cannot be meant for the bot are acknowledged and not stored, and all others are stored", async () => {
  const said = {
    type: "message",
    channel: "C1",
    channel_type: "channel",
    ts: "1.0",
    user: "U1",
    text: "hi all",
  };
  const reaction = {
    type: "reaction_added",
    reaction: "tada",
    user: "U1",
    item: { channel: "C1", ts: "1.0" },
  };
  const changed = (message: object) => ({ ...said, subtype: "message_changed", message });
  const cases: readonly [event: object, isStored: boolean][] = [
    [said, false],
    [reaction, false],
    [{ ...said, text: "hi <@U0>" }, true],
    [{ ...said, thread_ts: "0.9" }, true],
    [{ ...said, channel: "D1" }, true],
    [{ ...said, channel_type: "im" }, true],
    [{ ...said, channel_type: undefined }, true],
    [{ ...said, subtype: "file_share" }, false],
    [{ ...said, subtype: "me_message" }, false],
    [{ ...said, subtype: "file_share", text: "hi <@U0>" }, true],
    [{ ...said, subtype: "file_share", channel_type: "im", channel: "D1" }, true],
    [changed({ ts: "1.0", text: "hi <@U0>", attachments: [{}] }), false],
    [changed({ ts: "1.0", text: "hi <@U0>", edited: { ts: "2.0" } }), true],
    [changed({ ts: "1.0", subtype: "tombstone" }), true],
    [{ ...said, subtype: "message_changed" }, true],
    [{ ...said, subtype: "message_deleted", deleted_ts: "1.0" }, true],
    [{ ...said, text: null }, true],
    [{ ...reaction, reaction: "x" }, true],
  ];

  for (const [index, [event, isStored]] of cases.entries()) {
    const response = await send(anEvent(`Ev${index}`, { event }));
    expect(response.statusCode).toBe(200);
    expect([event, inbox.has(`Ev${index}`)]).toEqual([event, isStored]);
  }
});

test("the content type is read without its charset and in any case, and answers name theirs", async () => {
  const form = new URLSearchParams({ payload: JSON.stringify({ type: "block_suggestion" }) }).toString();
  const types = ["application/x-www-form-urlencoded; charset=UTF-8", "Application/X-WWW-Form-Urlencoded"];
  for (const type of types) {
    const response = await send(form, { "content-type": type });
    expect([response.statusCode, response.json()]).toEqual([200, { options: [] }]);
    expect(response.headers["content-type"]).toBe("application/json; charset=utf-8");
  }

  const event = await send(anEvent(), { "content-type": "application/json; charset=utf-8" });
  expect(event.statusCode).toBe(200);
  expect([...inbox.keys()]).toEqual(["Ev1"]);
});

test("the options of a menu are answered at once and not stored", async () => {
  const payload = JSON.stringify({
    type: "block_suggestion",
    action_id: "pick",
    value: "re",
    trigger_id: "1",
  });

  expect((await sendForm({ payload })).json()).toEqual({ options: [] });
  expect(inbox.size).toBe(0);
});

test("a submitted dialog is stored and closed at once", async () => {
  const payload = JSON.stringify({ type: "view_submission", trigger_id: "1.2.abc", view: { id: "V1" } });

  const response = await sendForm({ payload });

  expect([response.statusCode, response.body]).toEqual([200, ""]);
  expect([...inbox.values()]).toEqual([expect.objectContaining({ name: "view_submission", body: payload })]);
});

test("other routes of the server keep their body parsers", async () => {
  const response = await server.inject({ method: "POST", url: "/elsewhere", payload: { a: 1 } });

  expect(response.json()).toEqual({ parsed: { a: 1 } });
});

test("neither secret nor token is in a log line", async () => {
  accept = async () => Promise.reject(new Error("down"));
  await send(anEvent());
  await send(anEvent(), { "x-slack-signature": "v0=0" });

  expect(lines.length).toBeGreaterThan(1);
  expect(lines.join()).not.toContain("CANARY");
  expect(lines.join()).not.toContain(SECRET);
});
