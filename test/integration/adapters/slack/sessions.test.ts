import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createClient } from "../../../../src/adapters/slack/client.ts";
import { Sessions } from "../../../../src/adapters/slack/sessions.ts";
import type { ThreadKey } from "../../../../src/core/basics/ids.ts";
import type { RunState } from "../../../../src/core/model/runs/states.ts";
import { loopbackOnlyFetch } from "../../../support/loopback-only.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { aCard, messageOf, SlackFixture } from "./slack-fixture.ts";

const METHOD = "agents.sessions.setStatus";

let fixture: SlackFixture;

beforeEach(async () => {
  fixture = await SlackFixture.open();
});

afterEach(async () => {
  await fixture.close();
});

describe("the session of a thread", () => {
  beforeEach(() => {
    fixture.slack.workspace.sessions.isEnabled = true;
  });

  test.each<[RunState, string]>([
    ["QUEUED", "processing"],
    ["INPROGRESS", "processing"],
    ["BLOCKED", "suspended"],
    ["SUCCEEDED", "active"],
    ["FAILED", "closed"],
    ["CANCELLED", "closed"],
  ])("of a run that is %s is %s, with the title of the run", async (state, status) => {
    const message = await fixture.mentioned();

    await fixture.deliver(message, aCard({ state, title: `<!channel> ${"x".repeat(300)}` }));

    const session = fixture.slack.workspace.sessions.ofThreads.get(message.messageRef);
    expect(session).toEqual({ status, title: expect.stringMatching(/^<.!channel> x+…$/) });
  });

  test("is set only when the status changes", async () => {
    const message = await fixture.mentioned();

    let shownAt = await fixture.deliver(message, aCard({ state: "QUEUED" }));
    shownAt = await fixture.deliver(message, aCard({ state: "INPROGRESS" }), { shownAt });
    shownAt = await fixture.deliver(message, aCard({ state: "INPROGRESS", turn: 2 }), { shownAt });
    await fixture.deliver(message, aCard({ state: "SUCCEEDED" }), { shownAt });

    expect(fixture.slack.calls(METHOD).map(({ args }) => args.status)).toEqual(["processing", "active"]);
  });

  test("replaces the reactions 👀 and ✅, and removes those of before", async () => {
    const message = await fixture.mentioned();
    const { messageRef } = message;
    const seenAt = await fixture.deliver(message, { kind: "seen", messageRef });
    expect(reactionsTo(messageRef)).toEqual(["eyes"]);
    await fixture.deliver(message, aCard());

    await fixture.deliver(message, { kind: "ended", messageRef, end: "done" }, { shownAt: seenAt });
    expect(reactionsTo(messageRef)).toEqual([]);

    const again = await fixture.mentioned("again");
    await fixture.deliver(again, { kind: "seen", messageRef: again.messageRef });
    expect(reactionsTo(again.messageRef)).toEqual([]);
    await fixture.deliver(again, { kind: "ended", messageRef: again.messageRef, end: "failed" });
    expect(reactionsTo(again.messageRef)).toEqual(["x"]);
  });

  test("that Slack cannot set now is set by the next delivery, with the same card", async () => {
    const message = await fixture.mentioned();
    fixture.slack.faults.next({ method: METHOD, kind: "429", retryAfterSeconds: 1 });

    const error = await fixture.failureOf(fixture.deliver(message, aCard()));
    await fixture.deliver(message, aCard(), { maybeShown: true });

    expect(error.retryable).toBe(true);
    expect(fixture.repliesTo(message)).toHaveLength(1);
    expect(fixture.slack.workspace.sessions.ofThreads.get(message.messageRef)?.status).toBe("processing");
  });

  test("that Slack refuses in this channel leaves the card", async () => {
    const message = await fixture.mentioned();
    fixture.slack.faults.next({ method: METHOD, kind: "ok-false", error: "channel_type_not_supported" });

    await fixture.deliver(message, aCard());

    expect(fixture.repliesTo(message)).toHaveLength(1);
  });

  test("its Stop is the word stop of the person who pressed it", async () => {
    const { alice, channel, teamId } = fixture.slack;
    const event = {
      type: "agent_session_stopped",
      channel: channel.id,
      user: alice.id,
      thread_ts: "1700000000.000100",
      streaming_message_ts: [],
      event_ts: "1700000060.000100",
    };
    await fixture.slack.sendEvent(fixture.url, event);

    expect(messageOf(await fixture.translateLast())).toMatchObject({
      key: `${teamId}/${channel.id}/1700000000.000100`,
      addressed: "mention",
      author: { subject: `slack:${teamId}:${alice.id}` },
      text: "stop",
      messageRef: "",
    });
    expect(fixture.inbox.at(-1)?.orderingKey).toBe(`slack:${channel.id}/1700000000.000100`);
  });
});

describe("a workspace without sessions", () => {
  test.each(["feature_disabled", "unknown_method", "missing_scope"])(
    "that says %s is not asked again for a day, and keeps card and reactions",
    async (error) => {
      const { slack } = fixture;
      const clock = new ManualClock();
      const fetch = (input: string | URL, init: unknown) => loopbackOnlyFetch(input, init as RequestInit);
      const client = createClient({ apiUrl: slack.apiUrl, botToken: slack.botToken }, { clock, fetch });
      const sessions = new Sessions(clock);
      const key = `${slack.teamId}/${slack.channel.id}/1.1` as ThreadKey;
      const delivery = { thread: { id: "t1", installation: slack.teamId, key } };
      const show = () =>
        sessions.show(delivery, { state: "INPROGRESS", title: "Fix it" }, { before: undefined, client });
      slack.faults.next({ method: METHOD, kind: "ok-false", error });

      expect(await show()).toBeUndefined();
      expect(await show()).toBeUndefined();
      expect(sessions.isShown(delivery)).toBe(false);
      expect(slack.calls(METHOD)).toHaveLength(1);

      await clock.advance(24 * 60 * 60_000);
      slack.workspace.sessions.isEnabled = true;
      expect(await show()).toBe("processing");
      expect(sessions.isShown(delivery)).toBe(true);
    },
  );
});

function reactionsTo(ts: string): readonly string[] {
  const messages = fixture.slack.channelMessages(fixture.slack.channel.id);
  return messages.find((message) => message.ts === ts)?.reactions.map(({ name }) => name) ?? [];
}
