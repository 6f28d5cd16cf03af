import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Misconfigured } from "../../../../src/core/basics/errors.ts";
import type { Notice } from "../../../../src/core/model/threads/notice.ts";
import { aCard, aReply, messageOf, runId, SlackFixture } from "./slack-fixture.ts";

const PLAN = [
  { text: "Look", status: "completed" },
  { text: "Repair", status: "in_progress" },
] as const;

let fixture: SlackFixture;

beforeEach(async () => {
  fixture = await SlackFixture.open();
});

afterEach(async () => {
  await fixture.close();
});

describe("deliver", () => {
  test("a seen notice is a reaction, also at the second delivery", async () => {
    const message = await fixture.mentioned();
    const seen = { kind: "seen", messageRef: message.messageRef } as const;

    const receipts = [
      await fixture.deliver(message, seen),
      await fixture.deliver(message, seen, { maybeShown: true }),
    ];

    const [root] = fixture.slack.threadMessages(fixture.slack.channel.id, message.messageRef);
    expect(root?.reactions).toEqual([{ name: "eyes", users: [fixture.slack.botUserId] }]);
    expect(receipts[0]).toBe(receipts[1]);
  });

  test.each([
    ["done", "white_check_mark"],
    ["failed", "x"],
    ["stopped", "octagonal_sign"],
    ["thanked", "heart"],
  ] as const)(
    "the end %s is a reaction in place of the one before, also at the second delivery",
    async (how, name) => {
      const end = how === "thanked" ? { end: "done" as const, isThanks: true } : { end: how };
      const message = await fixture.mentioned();
      const { messageRef } = message;
      const shownAt = await fixture.deliver(message, { kind: "seen", messageRef });

      for (const maybeShown of [false, true]) {
        await fixture.deliver(message, { kind: "ended", messageRef, ...end }, { shownAt, maybeShown });
      }

      const [root] = fixture.slack.threadMessages(fixture.slack.channel.id, messageRef);
      expect(root?.reactions).toEqual([{ name, users: [fixture.slack.botUserId] }]);
    },
  );

  test("a message that was deleted gets no reaction, which is not a failure", async () => {
    const message = await fixture.mentioned();

    for (const [error, notice] of [
      ["message_not_found", { kind: "seen", messageRef: message.messageRef }],
      ["message_not_found", { kind: "ended", messageRef: message.messageRef, end: "done" }],
    ] as const) {
      fixture.slack.faults.next({ method: "reactions.add", kind: "ok-false", error });
      await fixture.deliver(message, notice);
    }

    expect(fixture.slack.calls("reactions.add")).toHaveLength(2);
  });

  test("a card is posted in the thread once and edited after that", async () => {
    const message = await fixture.mentioned();

    const shownAt = await fixture.deliver(message, aCard());
    const again = await fixture.deliver(message, aCard({ state: "SUCCEEDED" }), { id: "d2", shownAt });

    const replies = fixture.repliesTo(message);
    expect(replies).toHaveLength(1);
    expect(JSON.parse(again)).toMatchObject({ ts: JSON.parse(shownAt).ts });
    expect(replies[0]?.text).toContain("Succeeded");
    expect(JSON.stringify(replies[0]?.blocks)).not.toContain("errand_cancel");
    expect(JSON.parse(shownAt)).toEqual({
      ...{ channel: fixture.slack.channel.id, ts: replies[0]?.ts },
      hash: expect.any(String),
    });
  });

  test("a card that would look the same is not edited", async () => {
    const message = await fixture.mentioned();
    const shownAt = await fixture.deliver(message, aCard());

    const same = await fixture.deliver(message, aCard(), { id: "d2", shownAt });
    const other = await fixture.deliver(message, aCard({ turn: 2 }), { id: "d3", shownAt: same });
    await fixture.deliver(message, aCard({ turn: 2 }), { id: "d4", shownAt: other });

    expect(fixture.slack.calls("chat.update")).toHaveLength(1);
  });

  test("the plan of a card is Slack's own block", async () => {
    const message = await fixture.mentioned();

    await fixture.deliver(message, aCard({ plan: PLAN }));

    const [card] = fixture.repliesTo(message);
    expect(card?.blocks.find(({ type }) => type === "plan")).toMatchObject({
      title: "Plan: 1 of 2 steps done",
      tasks: [
        { type: "task_card", title: "Look", status: "complete" },
        { type: "task_card", title: "Repair", status: "in_progress" },
      ],
    });
  });

  test("in a workspace that refuses the block for plans, a card has its plan as text, and the block is not tried again", async () => {
    const message = await fixture.mentioned();
    fixture.slack.refusedBlocks.add("plan");

    const shownAt = await fixture.deliver(message, aCard({ plan: PLAN }));
    await fixture.deliver(message, aCard({ plan: PLAN, turn: 2 }), { id: "d2", shownAt });

    const [card, ...others] = fixture.repliesTo(message);
    expect(others).toEqual([]);
    expect(JSON.stringify(card?.blocks)).toContain("✓ Look\\n▸ Repair");
    expect(fixture.slack.calls("chat.postMessage").map(({ outcome }) => outcome)).toEqual([
      "invalid_blocks",
      "ok",
    ]);
    expect(fixture.slack.calls("chat.update").map(({ outcome }) => outcome)).toEqual(["ok"]);
  });

  test("a deleted card is posted again", async () => {
    const message = await fixture.mentioned();
    const shownAt = await fixture.deliver(message, aCard());
    await fixture.slack.workspace.callAs(fixture.slack.botToken, "chat.delete", JSON.parse(shownAt));

    const anew = await fixture.deliver(message, aCard({ turn: 2 }), { id: "d2", shownAt });

    expect(anew).not.toBe(shownAt);
    expect(fixture.repliesTo(message)).toHaveLength(1);
  });

  test.each(["cant_update_message", "edit_window_closed"])(
    "a card that can no longer be edited (%s) is posted anew, once",
    async (error) => {
      const message = await fixture.mentioned();
      const shownAt = await fixture.deliver(message, aCard());
      fixture.slack.faults.next({ method: "chat.update", kind: "ok-false", error });

      const anew = await fixture.deliver(message, aCard({ turn: 2 }), { id: "d2", shownAt });
      await fixture.deliver(message, aCard({ turn: 3 }), { id: "d3", shownAt: anew });

      expect(fixture.repliesTo(message)).toHaveLength(2);
      expect(JSON.stringify(fixture.repliesTo(message)[1]?.blocks)).toContain("turn 3");
    },
  );

  test.each(["too_many_reactions", "not_reactable", "thread_locked", "too_many_emoji"])(
    "a message that accepts no reaction (%s) is not a failure",
    async (error) => {
      const message = await fixture.mentioned();
      fixture.slack.faults.next({ method: "reactions.add", kind: "ok-false", error });

      await fixture.deliver(message, { kind: "seen", messageRef: message.messageRef });

      expect(fixture.slack.calls("reactions.add")).toHaveLength(1);
    },
  );

  test("messages carry both marks and unfurl nothing", async () => {
    const message = await fixture.mentioned();

    await fixture.deliver(message, aReply("see https://example.com"));

    const [reply] = fixture.repliesTo(message);
    expect(reply?.metadata).toMatchObject({
      event_type: "errand_delivery",
      event_payload: { delivery_id: "d1" },
    });
    expect(reply?.blocks[0]?.block_id).toBe("errand:d1");
    expect(fixture.slack.calls("chat.postMessage").at(-1)?.args).toMatchObject({
      unfurl_links: "false",
      unfurl_media: "false",
      parse: "none",
    });
  });

  test("a direct conversation is one thread, in which the bot's messages are no replies", async () => {
    const direct = await fixture.slack.openDirectMessage(fixture.slack.bob);
    const posted = await fixture.slack.postAs(fixture.slack.bob, { channel: direct.id, text: "hi" });
    await fixture.slack.sendEvent(fixture.url, fixture.slack.messageEvent(posted));
    const message = messageOf(await fixture.translateLast());
    const threadTs = posted.ts;
    const second = await fixture.slack.postAs(fixture.slack.bob, {
      channel: direct.id,
      text: "and this",
      threadTs,
    });
    await fixture.slack.sendEvent(fixture.url, fixture.slack.messageEvent(second));
    const later = messageOf(await fixture.translateLast());
    fixture.slack.faults.next({ method: "chat.postMessage", kind: "drop-after-write" });

    await fixture.failureOf(fixture.deliver(message, aReply()));
    await fixture.deliver(message, aReply(), { maybeShown: true });

    expect(later.key).toBe(message.key);
    expect(fixture.inbox[1]?.orderingKey).toBe(fixture.inbox[0]?.orderingKey);
    const own = fixture.slack.channelMessages(direct.id).filter(({ text }) => text === "Done.");
    expect(own).toHaveLength(1);
    expect(fixture.slack.threadMessages(direct.id, posted.ts).map(({ text }) => text)).not.toContain("Done.");
  });
});

test("every call to Slack has a time-out", async () => {
  const wellConnected = fixture.fetch;
  const signals: unknown[] = [];
  fixture.fetch = (input, init) => {
    signals.push(init?.signal);
    return wellConnected(input, init);
  };

  await fixture.mentioned();

  expect(signals).toEqual([expect.any(AbortSignal)]);
});

describe("refusals by Slack", () => {
  test("a rate limit becomes a retryable failure with the time to wait", async () => {
    const message = await fixture.mentioned();
    fixture.slack.faults.next({ method: "chat.postMessage", kind: "429", retryAfterSeconds: 30 });

    const error = await fixture.failureOf(fixture.deliver(message, aReply()));

    expect(error).toMatchObject({ retryable: true, options: { retryAfterMs: 30_000 } });
    expect(fixture.slack.calls("chat.postMessage")).toHaveLength(1);
  });

  test.each(["channel_not_found", "not_in_channel", "is_archived"])(
    "the refusal %s by Slack is a failure that is not retryable",
    async (name) => {
      const message = await fixture.mentioned();
      fixture.slack.faults.next({ method: "chat.postMessage", kind: "ok-false", error: name });

      const error = await fixture.failureOf(fixture.deliver(message, aReply()));

      expect(error.retryable).toBe(false);
      expect(error.message).toContain(name);
    },
  );

  test.each(["token_revoked", "account_inactive", "invalid_auth", "not_authed", "missing_scope"])(
    "the refusal %s by Slack waits for an operator",
    async (name) => {
      const message = await fixture.mentioned();
      fixture.slack.faults.next({ method: "chat.postMessage", kind: "ok-false", error: name });

      const error = await fixture.failureOf(fixture.deliver(message, aReply()));

      expect(error).toBeInstanceOf(Misconfigured);
      expect(error.retryable).toBe(true);
    },
  );

  test.each(["invalid_blocks", "msg_blocks_too_long"])(
    "an answer whose blocks Slack refuses with %s is posted as plain text",
    async (error) => {
      const message = await fixture.mentioned();
      fixture.slack.faults.next({ method: "chat.postMessage", kind: "ok-false", error });
      const answer: Notice = {
        kind: "message",
        purpose: "answer",
        text: `Done. <!channel> ${"long ".repeat(2_000)}`,
        sessionLink: "https://errand.example/sessions/1",
      };

      await fixture.deliver(message, answer);
      await fixture.deliver(message, answer, { maybeShown: true });

      const [shown, ...others] = fixture.repliesTo(message);
      expect(others).toEqual([]);
      expect(shown?.text).toMatch(/^The agent's answer:\nDone\. /);
      expect(shown?.text).toMatch(/<https:\/\/errand.example\/sessions\/1>$/);
      expect(shown?.text).not.toContain("<!channel>");
      expect(shown?.text.match(/long/g)).toHaveLength(2_000);
    },
  );

  test("an answer whose blocks Slack refuses is posted with fewer, before plain text", async () => {
    const message = await fixture.mentioned();
    fixture.slack.faults.next({ method: "chat.postMessage", kind: "ok-false", error: "invalid_blocks" });
    const text = "# Result\n\n| a | b |\n|---|---|\n| 1 | **2** |\n\n- one";

    await fixture.deliver(message, { kind: "message", purpose: "answer", text });

    const [shown] = fixture.repliesTo(message);
    expect(shown?.blocks).toContainEqual(
      expect.objectContaining({
        type: "markdown",
        text: "**Result**\n\n\n```\n| a | b |\n|---|---|\n| 1 | **2** |\n```\n\n- one",
      }),
    );
  });

  test("an answer that Slack also refuses as plain text is posted as its start, with the link to the rest", async () => {
    const message = await fixture.mentioned();
    for (const error of ["invalid_blocks", "msg_too_long"]) {
      fixture.slack.faults.next({ method: "chat.postMessage", kind: "ok-false", error });
    }
    const sessionLink = "https://errand.example/sessions/1";

    await fixture.deliver(message, {
      kind: "message",
      purpose: "answer",
      text: `Done. ${"<b> & ".repeat(1_500)}`,
      sessionLink,
    });

    const [shown, ...others] = fixture.repliesTo(message);
    expect(others).toEqual([]);
    expect(shown?.text.length).toBeLessThanOrEqual(3_000);
    expect(shown?.text).toMatch(/Done\. &lt;b&gt; &amp; [\s\S]*…\n<https:\/\/errand\.example\/sessions\/1>$/);
    expect(shown?.text).not.toMatch(/&(?!(?:amp|lt|gt);)/);
  });

  test("a question has its buttons until it is answered, and the card links to it", async () => {
    const message = await fixture.mentioned();
    const options = [{ optionId: "yes", name: "Allow", kind: "allow_once" as const }];
    const asks = { runId, permissionId: "p1", options };
    const question = { kind: "message", purpose: "question", text: "May I? <!channel>", asks } as const;
    const questionShownAt = await fixture.deliver(message, question);
    const card = aCard({ state: "BLOCKED", question: { permissionId: "p1", title: "May I?", options } });

    await fixture.deliver(message, card, { id: "d2", questionShownAt });
    const closed = { ...question, text: "May I?\nAnswered: Allow.", asks: { ...asks, options: [] } };
    const open = fixture.repliesTo(message);
    await fixture.deliver(message, closed, { id: "d3", shownAt: questionShownAt });

    const [asked, answered] = [open[0], fixture.repliesTo(message)[0]].map((shown) =>
      JSON.stringify(shown?.blocks),
    );
    expect(asked).toMatch(/May I\?.*errand_permission:0.*Allow/);
    expect(asked).not.toContain("<!channel>");
    expect(JSON.stringify(open[1]?.blocks)).toMatch(/The agent asks a question\. <https?:[^|]*\/archives\//);
    expect(JSON.stringify(open[1]?.blocks)).not.toMatch(/May I|errand_permission/);
    expect(answered).toContain("Answered: Allow.");
    expect(answered).not.toContain("errand_permission");
    expect(fixture.repliesTo(message)).toHaveLength(2);
  });

  test("a card whose blocks Slack refuses is shown as plain text", async () => {
    const message = await fixture.mentioned();
    const shownAt = await fixture.deliver(message, aCard());
    fixture.slack.faults.next({ method: "chat.update", kind: "ok-false", error: "invalid_blocks" });

    await fixture.deliver(message, aCard({ state: "FAILED", message: "It broke." }), { shownAt });

    const [card] = fixture.repliesTo(message);
    expect(card?.text).toMatch(/Failed\nIt broke\.\nturn 1\n<https/);
    expect(card?.blocks).toEqual([]);
  });

  test("a reply for one person is seen by that person alone, and by everybody if Slack does not know them", async () => {
    const message = await fixture.mentioned();
    const { alice, channel, teamId } = fixture.slack;
    const refusal = (userId: string): Notice => {
      return {
        kind: "message",
        purpose: "reply",
        text: `No, ${userId}.`,
        onlyFor: `slack:${teamId}:${userId}`,
      };
    };

    await fixture.deliver(message, refusal(alice.id));
    await fixture.deliver(message, refusal("U0STRANGER"));

    const quiet = fixture.slack.ephemeralMessages(channel.id, alice).map(({ text }) => text);
    expect(quiet).toEqual([`No, ${alice.id}.`]);
    expect(fixture.repliesTo(message).map(({ text }) => text)).toEqual(["No, U0STRANGER."]);
  });

  test.each([
    ["in the channel, if its thread has no reply yet", 0],
    ["in its thread, if that has one", 1],
  ])("a reply for one person is shown %s", async (_name, replies) => {
    const message = await fixture.mentioned();
    const { alice, bob, channel, teamId } = fixture.slack;
    for (let number = 1; number <= replies; number += 1) {
      await fixture.slack.postAs(bob, { channel: "work", text: "hm", threadTs: message.messageRef });
    }

    const onlyFor = `slack:${teamId}:${alice.id}`;
    await fixture.deliver(message, { kind: "message", purpose: "reply", text: "No.", onlyFor });

    expect(fixture.slack.ephemeralMessages(channel.id, alice)).toMatchObject([
      { text: "No.", threadTs: replies === 0 ? undefined : message.messageRef },
    ]);
  });

  test("a reply for one person is shown in the channel if Slack does not say whether its thread has replies", async () => {
    const message = await fixture.mentioned();
    const { alice, bob, channel, teamId } = fixture.slack;
    await fixture.slack.postAs(bob, { channel: "work", text: "hm", threadTs: message.messageRef });
    fixture.slack.faults.next({ method: "conversations.replies", kind: "ok-false", error: "missing_scope" });

    const onlyFor = `slack:${teamId}:${alice.id}`;
    await fixture.deliver(message, { kind: "message", purpose: "reply", text: "No.", onlyFor });

    expect(fixture.slack.ephemeralMessages(channel.id, alice)).toMatchObject([
      { text: "No.", threadTs: undefined },
    ]);
  });

  test("a reply for one person whose blocks Slack refuses is shown to that person as plain text", async () => {
    const message = await fixture.mentioned();
    const { alice, channel, teamId } = fixture.slack;
    fixture.slack.faults.next({ method: "chat.postEphemeral", kind: "ok-false", error: "invalid_blocks" });
    const onlyFor = `slack:${teamId}:${alice.id}`;

    await fixture.deliver(message, { kind: "message", purpose: "reply", text: "No, <!here>.", onlyFor });

    const [shown, ...others] = fixture.slack.ephemeralMessages(channel.id, alice);
    expect(others).toEqual([]);
    expect(shown?.text).toMatch(/^No, .*here/);
    expect(shown?.text).not.toContain("<!here>");
    expect(shown?.blocks).toEqual([]);
  });

  test("a missing scope for reactions does not hold up the messages of a thread", async () => {
    const message = await fixture.mentioned();
    fixture.slack.faults.next({ method: "reactions.add", kind: "ok-false", error: "missing_scope" });

    await fixture.deliver(message, { kind: "seen", messageRef: message.messageRef });

    expect(fixture.slack.calls("reactions.add")).toHaveLength(1);
  });

  test.each(["internal_error", "fatal_error", "service_unavailable", "ratelimited"])(
    "the refusal %s by Slack is a failure that is retryable",
    async (name) => {
      const message = await fixture.mentioned();
      fixture.slack.faults.next({ method: "chat.postMessage", kind: "ok-false", error: name });

      expect(await fixture.failureOf(fixture.deliver(message, aReply()))).toMatchObject({ retryable: true });
    },
  );

  test("a lost answer and HTTP 500 are retryable, and the client does not retry them itself", async () => {
    const message = await fixture.mentioned();
    fixture.slack.faults.next({ method: "chat.postMessage", kind: "500" });
    const broken = await fixture.failureOf(fixture.deliver(message, aReply()));
    const calls = fixture.slack.calls("chat.postMessage").length;
    fixture.fetch = async () => Promise.reject(new TypeError("fetch failed"));
    const silent = await fixture.failureOf(fixture.deliver(message, aReply()));

    expect([broken.retryable, silent.retryable, calls]).toEqual([true, true, 1]);
  });

  test("a thread whose first message was deleted leaves nothing in the channel", async () => {
    const mention = await fixture.slack.mention(fixture.slack.alice, { channel: "work", text: "fix it" });
    await fixture.slack.sendEvent(fixture.url, mention.appMention);
    const message = messageOf(await fixture.translateLast());
    await fixture.slack.deleteAs(mention.posted);

    const error = await fixture.failureOf(fixture.deliver(message, aReply()));
    const again = await fixture.failureOf(fixture.deliver(message, aReply(), { maybeShown: true }));

    expect([error, again]).toMatchObject([{ retryable: false }, { retryable: false }]);
    expect(fixture.slack.channelMessages(fixture.slack.channel.id)).toEqual([]);
  });
});

describe("the output of an agent", () => {
  test("the output of an agent arrives whole or cut, notifies no user, and fits", async () => {
    const message = await fixture.mentioned();
    const hostile =
      "<!channel> @channel <@U0BOT> ![x](https://evil.example/k) \u001B[31mred\u001B[0m\n# ✅ Succeeded\n";

    for (const [index, text] of [hostile, hostile.repeat(10_000), "x".repeat(1_000_000)].entries()) {
      const notice: Notice = {
        kind: "message",
        purpose: "answer",
        text,
        sessionLink: "https://errand.example/s/1",
      };
      await fixture.deliver(message, notice, { id: `d${index}` });
    }
    const shown = JSON.stringify(fixture.repliesTo(message));

    expect(fixture.repliesTo(message)).toHaveLength(1 + 4 + 4);
    expect(shown).toContain("|Session>");
    for (const dangerous of ["<!channel", "@channel", "<@U0BOT", "![x]", "\\u001b"]) {
      expect(shown).not.toContain(dangerous);
    }
  });
});
