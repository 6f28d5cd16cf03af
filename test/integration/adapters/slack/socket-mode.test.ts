import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createClient } from "../../../../src/adapters/slack/client.ts";
import { createSlackAdapter } from "../../../../src/adapters/slack/index.ts";
import { SocketMode } from "../../../../src/adapters/slack/socket-mode.ts";
import type { Log } from "../../../../src/core/basics/log.ts";
import type { ReceivedEvent } from "../../../../src/core/ports/thread-adapter.ts";
import { loopbackOnlyFetch } from "../../../support/loopback-only.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { EMPTY_VIEWS } from "../../../support/person-views.ts";
import { SocketModeServer } from "../../../support/slack/socket-mode-server.ts";
import { waitFor } from "../../../support/wait-for.ts";

let slack: SocketModeServer;
let clock: ManualClock;
let socketMode: SocketMode;
let stored: ReceivedEvent[];
let lines: string;
let log: Log;
let accept: (event: ReceivedEvent) => Promise<boolean>;

beforeEach(async () => {
  slack = await SocketModeServer.start();
  clock = new ManualClock();
  stored = [];
  lines = "";
  accept = async (event) => stored.push(event) > 0;
  const write = (...line: unknown[]) => {
    lines += `${inspect(line, { depth: 20 })}\n`;
  };
  log = { info: write, warn: write, error: write };
  const { routes, socketMode: created } = createSlackAdapter(
    { appToken: slack.appToken, botToken: "xoxb-1", apiUrl: slack.apiUrl },
    {
      clock,
      accept: (event) => accept(event),
      answerCommand: async () => "",
      searchChoices: async () => [],
      views: EMPTY_VIEWS,
      readBlob: async () => new Uint8Array(),
      log,
      fetch: (input, init) => loopbackOnlyFetch(input, init as RequestInit),
    },
  );
  expect(routes, "no webhook without a signing secret").toBeUndefined();
  socketMode = created ?? expect.fail("There is no Socket Mode.");
});

afterEach(async () => {
  await socketMode.stop();
  await slack.stop();
  expect(clock.pending, "timers that are left").toBe(0);
  expect(lines).not.toContain(slack.appToken);
  expect(lines).not.toContain("ticket=");
});

/** Resolves when Slack's hello has arrived. */
async function start() {
  socketMode.start();
  const isConnected = async () => (await socketMode.check.run()).status === "ok";
  await waitFor(isConnected, { what: "a connection" });
  return slack.connected();
}

function anEvent(eventId = "Ev1") {
  const event = { type: "app_mention", channel: "C1", ts: "1.0", user: "U1", text: "<@U0> fix it" };
  return { type: "event_callback", team_id: "T1", event_id: eventId, event };
}

/** Moves the clock until the condition holds. */
function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<boolean> {
  return waitFor(
    async () => {
      await clock.advance(1_000);
      return holds();
    },
    { what },
  );
}

describe("an envelope", () => {
  test("an event is stored before it is acknowledged", async () => {
    const connection = await start();
    const storing = Promise.withResolvers<void>();
    accept = async (event) => {
      await storing.promise;
      return stored.push(event) > 0;
    };

    const id = connection.deliver({ type: "events_api", payload: anEvent() });
    const other = connection.deliver({
      type: "slash_commands",
      payload: { text: "help" },
      acceptsResponse: true,
    });
    await connection.acknowledgementOf(other);
    const before = connection.acknowledged.map(({ envelope_id: acknowledged }) => acknowledged);
    storing.resolve();

    expect(await connection.acknowledgementOf(id)).toEqual({ envelope_id: id });
    expect(before).toEqual([other]);
    expect(stored).toEqual([
      {
        adapter: "slack",
        orderingKey: "slack:C1/1.0",
        deliveryId: "Ev1",
        name: "app_mention",
        body: JSON.stringify(anEvent()),
      },
    ]);
  });

  test("an event that cannot be stored is not acknowledged, and its repetition is", async () => {
    const connection = await start();
    accept = async () => Promise.reject(new Error("the database is away"));
    const lost = connection.deliver({ type: "events_api", payload: anEvent() });
    await waitFor(() => lines.includes("slack.socket.not_stored"), { what: "the failure to be logged" });
    accept = async (event) => stored.push(event) > 0;

    const again = connection.deliver({ type: "events_api", payload: anEvent(), attempt: 1 });

    await connection.acknowledgementOf(again);
    expect(connection.acknowledged).not.toContainEqual({ envelope_id: lost });
    expect(stored.map(({ deliveryId }) => deliveryId)).toEqual(["Ev1"]);
  });

  test("commands and menus are answered in the acknowledgement, and buttons and dialogs are stored", async () => {
    const connection = await start();
    const command = { command: "/errand", text: "help", team_id: "T1", user_id: "U1", channel_id: "C1" };

    const help = connection.deliver({ type: "slash_commands", payload: command, acceptsResponse: true });
    const options = connection.deliver({
      type: "interactive",
      payload: { type: "block_suggestion", value: "re" },
      acceptsResponse: true,
    });
    const task = connection.deliver({
      type: "slash_commands",
      payload: { ...command, text: "fix it", trigger_id: "1.2" },
      acceptsResponse: true,
    });
    const button = connection.deliver({
      type: "interactive",
      payload: { type: "block_actions", trigger_id: "3" },
    });
    const dialog = connection.deliver({
      type: "interactive",
      payload: { type: "view_submission", trigger_id: "4" },
      acceptsResponse: true,
    });

    expect(await connection.acknowledgementOf(help)).toEqual({
      envelope_id: help,
      payload: { response_type: "ephemeral", text: expect.stringContaining("/errand") },
    });
    expect(await connection.acknowledgementOf(options)).toEqual({
      envelope_id: options,
      payload: { options: [] },
    });
    expect(await connection.acknowledgementOf(task)).toMatchObject({
      payload: { text: expect.stringContaining("direct conversation") },
    });
    expect(await connection.acknowledgementOf(button)).toEqual({ envelope_id: button });
    expect(await connection.acknowledgementOf(dialog)).toEqual({ envelope_id: dialog });
    expect(stored.map(({ name }) => name).toSorted()).toEqual([
      "block_actions",
      "slash command",
      "view_submission",
    ]);
  });

  test("an answer is sent only where Slack takes one", async () => {
    const connection = await start();
    const id = connection.deliver({ type: "slash_commands", payload: { text: "help" } });

    expect(await connection.acknowledgementOf(id)).toEqual({ envelope_id: id });
  });

  test("an event of a megabyte is stored", async () => {
    const connection = await start();
    const event = { ...anEvent(), padding: "x".repeat(1_000_000) };

    await connection.acknowledgementOf(connection.deliver({ type: "events_api", payload: event }));

    expect(stored.map(({ deliveryId }) => deliveryId)).toEqual(["Ev1"]);
  });

  test.each([["{"], ["null"], ['{"type":1}'], ["x".repeat(1_000)]])(
    "a frame that says %j does no harm",
    async (frame) => {
      const connection = await start();
      connection.send(frame);
      const id = connection.deliver({ type: "events_api", payload: anEvent() });

      expect(await connection.acknowledgementOf(id)).toEqual({ envelope_id: id });
    },
  );

  test("an envelope that cannot be read is acknowledged, because its repetition would be the same", async () => {
    const connection = await start();
    const id = connection.deliver({ type: "events_api", payload: { nothing: "known" } });
    connection.send({ type: "unknown", envelope_id: "other", payload: anEvent() });

    expect(await connection.acknowledgementOf(id)).toEqual({ envelope_id: id });
    expect(await connection.acknowledgementOf("other")).toEqual({ envelope_id: "other" });
    expect(stored).toEqual([]);
  });
});

describe("the connection", () => {
  test("a refreshed connection is opened before the former one is closed, and outstanding answers are sent", async () => {
    const first = await start();
    await clock.advance(15_000);
    const storing = Promise.withResolvers<boolean>();
    accept = () => storing.promise;
    const id = first.deliver({ type: "events_api", payload: anEvent() });

    first.send({ type: "disconnect", reason: "refresh_requested" });
    await eventually("a second connection", () => slack.connections.length === 2);
    const atOnce = slack.connections.includes(first);
    storing.resolve(true);

    expect(atOnce, "both were open").toBe(true);
    expect(await first.acknowledgementOf(id)).toEqual({ envelope_id: id });
    await slack.connected(1);
    expect(slack.connections).not.toContain(first);
    expect(await socketMode.check.run()).toMatchObject({ status: "ok" });
  });

  test("two announcements of a refresh open one connection", async () => {
    const first = await start();
    await clock.advance(15_000);

    first.send({ type: "disconnect", reason: "warning" });
    first.send({ type: "disconnect", reason: "refresh_requested" });
    await eventually("a second connection", () => slack.opened > 1);
    await slack.connected(1);
    await clock.advance(60_000);

    expect(slack.opened).toBe(2);
  });

  test("a refresh that fails leaves the connection in use", async () => {
    const first = await start();
    await clock.advance(15_000);
    slack.refusal = "internal_error";

    first.send({ type: "disconnect", reason: "refresh_requested" });
    await eventually("a refused refresh", () => lines.includes("slack.socket.not_opened"));

    expect(await socketMode.check.run()).toMatchObject({ status: "ok" });
    const id = first.deliver({ type: "events_api", payload: anEvent() });
    expect(await first.acknowledgementOf(id)).toEqual({ envelope_id: id });
  });

  test("a connection without events stays open, because Slack answers pings", async () => {
    const { socket } = await start();
    let pings = 0;
    socket.on("ping", () => {
      pings += 1;
    });

    for (let count = 1; count <= 6; count += 1) {
      await clock.advance(10_000);
      await waitFor(() => pings === count, { what: `ping ${count}` });
    }

    expect(slack.opened).toBe(1);
  });

  test("a peer that does not confirm the end is left after two seconds", async () => {
    const { socket } = await start();
    socket.pause();
    let isStopped = false;
    const stopping = socketMode.stop().then(() => {
      isStopped = true;
    });

    await eventually("the end", () => isStopped);

    await stopping;
    expect(clock.elapsedMs()).toBeLessThan(10_000);
    socket.resume();
  });

  test("a connection that was in use for a while is opened again without a pause", async () => {
    const first = await start();
    await clock.advance(15_000);
    first.socket.terminate();
    await waitFor(() => lines.includes("slack.socket.lost"), { what: "the loss to be logged" });

    await clock.advance(0);

    await waitFor(() => slack.opened === 2, { what: "another connection" });
    expect(clock.elapsedMs()).toBe(15_000);
  });

  test("an address that refuses the connection is told to nobody, because it has a ticket", async () => {
    slack.isUnreachable = true;
    socketMode.start();
    await waitFor(() => lines.includes("slack.socket.lost"), { what: "the failure to be logged" });

    const finding = await socketMode.check.run();

    expect(finding).toMatchObject({ status: "warn", message: expect.stringContaining("ECONNREFUSED") });
    expect(JSON.stringify(finding)).not.toContain("ticket");
  });

  test("a lost connection is opened again", async () => {
    const first = await start();
    first.socket.terminate();

    await eventually("another connection", () => slack.opened === 2 && slack.connections.length === 1);

    const id = slack.connections[0]?.deliver({ type: "events_api", payload: anEvent() }) ?? "";
    expect(await slack.connections[0]?.acknowledgementOf(id)).toEqual({ envelope_id: id });
  });

  test("a peer that says nothing, not even hello, is left, and the pauses grow", async () => {
    slack.isMute = true;
    socketMode.start();
    await eventually("several tries", () => slack.opened === 4);
    const elapsedMs = clock.elapsedMs();

    // Each try waits 10 s for the hello. The pauses between them are at least half of 1, 2 and 4 s.
    expect(elapsedMs).toBeGreaterThanOrEqual(33_500);
    expect(await socketMode.check.run()).toMatchObject({
      status: "warn",
      message: expect.stringMatching(/no hello/),
    });
    slack.isMute = false;
    await eventually("a connection", async () => (await socketMode.check.run()).status === "ok");
  });

  test("a peer that falls silent is left within a minute", async () => {
    const first = await start();
    first.socket.pause();

    await eventually("another connection", () => slack.opened === 2);

    expect(lines).toContain("slack.socket.lost");
    expect(clock.elapsedMs()).toBeLessThan(60_000);
    first.socket.resume();
  });

  test("a link that was switched off is not opened again, and the doctor says so", async () => {
    const first = await start();
    first.send({ type: "disconnect", reason: "link_disabled" });
    await waitFor(() => slack.connections.length === 0, { what: "the connection to be closed" });
    await clock.advance(600_000);

    expect(slack.opened).toBe(1);
    expect(await socketMode.check.run()).toMatchObject({
      status: "fail",
      message: expect.stringMatching(/switched off/),
      remedy: expect.stringContaining("SLACK_APP_TOKEN"),
    });
  });

  test("the pauses between tries grow to at most a minute", async () => {
    slack.refusal = "internal_error";
    socketMode.start();
    await eventually("the eighth try", () => slack.opened === 8);
    const elapsedMs = clock.elapsedMs();

    await eventually("the ninth try", () => slack.opened === 9);

    // Each is between half of its length and its length.
    const pauseMs = clock.elapsedMs() - elapsedMs;
    expect(pauseMs).toBeGreaterThanOrEqual(25_000);
    expect(pauseMs).toBeLessThanOrEqual(65_000);
  });

  test("a pause that Slack asks for is kept", async () => {
    slack.retryAfterSeconds = 30;
    socketMode.start();
    await waitFor(() => lines.includes("slack.socket.not_opened"), { what: "the refusal to be logged" });
    slack.retryAfterSeconds = undefined;

    await eventually("a connection", async () => (await socketMode.check.run()).status === "ok");

    expect(clock.elapsedMs()).toBeGreaterThanOrEqual(30_000);
    expect(slack.opened).toBe(2);
  });

  test("an address without TLS is not opened", async () => {
    const client = createClient({ apiUrl: slack.apiUrl, botToken: slack.appToken }, { clock });
    const strict = new SocketMode({ client, clock, log, isEncrypted: true });

    strict.start();
    await waitFor(() => lines.includes("slack.socket.not_opened"), { what: "the refusal to be logged" });
    const finding = await strict.check.run();
    await strict.stop();

    expect(finding).toMatchObject({
      status: "warn",
      message: expect.stringContaining("no address of a WebSocket"),
    });
    expect(slack.connections).toEqual([]);
  });

  test("a refused token is reported and tried again with growing pauses", async () => {
    slack.refusal = "invalid_auth";
    socketMode.start();
    await eventually("several tries", () => slack.opened === 4);
    const finding = await socketMode.check.run();
    slack.refusal = undefined;
    await eventually("a connection", async () => (await socketMode.check.run()).status === "ok");

    expect(finding).toMatchObject({ status: "fail", message: expect.stringContaining("invalid_auth") });
  });
});
