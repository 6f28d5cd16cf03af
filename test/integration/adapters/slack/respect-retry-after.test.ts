import { afterEach, beforeEach, expect, test } from "vitest";
import { callSlack, createClient } from "../../../../src/adapters/slack/client.ts";
import { type EmulatedSlack, startEmulatedSlack } from "../../../support/emulated-slack.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

let slack: EmulatedSlack;
beforeEach(async () => {
  slack = await startEmulatedSlack();
});
afterEach(() => slack.stop());

test("a method that Slack refuses for a time is not called until then, and others are", async () => {
  const clock = new ManualClock();
  const client = createClient(slack, { clock });
  const ask = () => callSlack("users.info", client.users.info({ user: slack.alice.id }));
  slack.faults.next({ method: "users.info", kind: "429", retryAfterSeconds: 30 });

  await expect(ask()).rejects.toMatchObject({ retryable: true, options: { retryAfterMs: 30_000 } });
  await clock.advance(10_000);
  await expect(ask()).rejects.toMatchObject({ retryable: true, options: { retryAfterMs: 20_000 } });

  expect(slack.calls("users.info")).toHaveLength(1);
  expect((await client.auth.test()).ok).toBe(true);
  await clock.advance(20_000);
  expect((await ask()).user?.id).toBe(slack.alice.id);
});

test("a time of days closes a method for an hour", async () => {
  const clock = new ManualClock();
  const client = createClient(slack, { clock });
  const ask = () => callSlack("users.info", client.users.info({ user: slack.alice.id }));
  slack.faults.next({ method: "users.info", kind: "429", retryAfterSeconds: 1_000_000 });
  await expect(ask()).rejects.toMatchObject({ retryable: true });

  await clock.advance(3_600_000);

  expect((await ask()).user?.id).toBe(slack.alice.id);
});

test("a refused post closes no method, because its limit is that of a channel", async () => {
  const client = createClient(slack, { clock: new ManualClock() });
  const post = (channel: string) => client.chat.postMessage({ channel, text: "hi" });
  slack.faults.next({ method: "chat.postMessage", kind: "429", retryAfterSeconds: 30 });

  await expect(post(slack.channel.id)).rejects.toThrow();

  expect((await post(slack.privateChannel.id)).ok).toBe(true);
});
