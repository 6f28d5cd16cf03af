import { afterEach, beforeEach, expect, test } from "vitest";
import type { Notice } from "../../../../src/core/model/threads/notice.ts";
import { asRecord, type JsonRecord } from "../../../support/json.ts";
import { runId, SlackFixture } from "./slack-fixture.ts";

const turn = { runId, turn: 2 };
const ANSWER: Notice = { kind: "message", purpose: "answer", text: "Done.", takesRating: turn };

let fixture: SlackFixture;
beforeEach(async () => {
  fixture = await SlackFixture.open();
});
afterEach(() => fixture.close());

/** The elements of the last block of the answer. */
async function shown(notice = ANSWER, id = "d1"): Promise<{ elements: JsonRecord[]; ts: string }> {
  const message = await fixture.mentioned();
  await fixture.deliver(message, notice, { id });
  const [answer] = fixture.repliesTo(message);
  const { elements } = asRecord(answer?.blocks.at(-1));
  return { elements: (elements as unknown[]).map(asRecord), ts: String(answer?.ts) };
}

async function pressed(ts: string, actionId: unknown, value: unknown, element?: "feedback_buttons") {
  const message = { channel: fixture.slack.channel.id, ts };
  const press = { user: fixture.slack.bob, message, actionId: String(actionId), value: String(value) };
  await fixture.slack.sendButton(fixture.url, element === undefined ? press : { ...press, element });
  return fixture.translateLast();
}

test("an answer has Slack's own buttons for rating it, and each says which turn it is about", async () => {
  const { elements, ts } = await shown();

  expect(elements).toMatchObject([{ type: "feedback_buttons" }]);
  for (const [name, rating] of [
    ["positive_button", "good"],
    ["negative_button", "bad"],
  ] as const) {
    const { value } = asRecord(elements[0]?.[name]);
    const translation = await pressed(ts, elements[0]?.action_id, value, "feedback_buttons");
    expect(translation).toMatchObject({
      kind: "message",
      message: { buttonAction: { kind: "rate", runId, ratedTurn: 2, rating } },
    });
  }
});

test("in a workspace that refuses them, an answer has ordinary buttons, beside Files, and cards keep their plans", async () => {
  fixture.slack.refusedBlocks.add("context_actions");

  const { elements, ts } = await shown({ ...ANSWER, offersFiles: turn });
  await shown(ANSWER, "d2");

  expect(elements.map(({ text }) => asRecord(text).text)).toEqual(["Files", "👍", "👎"]);
  const [, , bad] = elements;
  expect(await pressed(ts, bad?.action_id, bad?.value)).toMatchObject({
    message: { buttonAction: { kind: "rate", runId, ratedTurn: 2, rating: "bad" } },
  });
  expect(fixture.slack.calls("chat.postMessage").map(({ outcome }) => outcome)).toEqual([
    ...["invalid_blocks", "ok"],
    "ok",
  ]);
  const { elements: plain } = await shown({ ...ANSWER, takesRating: turn }, "d3");
  expect(plain).toHaveLength(2);
});

test.each([`${runId}|2|great`, `${runId}|x|good`, `${runId}|2`, "2|good", ""])(
  "a button of this kind with the value %j asks for nothing",
  async (value) => {
    const { ts } = await shown();

    expect(await pressed(ts, "errand_rate", value, "feedback_buttons")).toMatchObject({ kind: "ignored" });
  },
);
