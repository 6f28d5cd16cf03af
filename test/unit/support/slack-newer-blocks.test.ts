import { describe, expect, test } from "vitest";
import type { JsonRecord } from "../../support/json.ts";
import { slackLimitError } from "../../support/slack/slack-limits.ts";

const text = (words: string) => ({ type: "mrkdwn", text: words });
const button = (value: string) => ({ text: text("Good"), value });
const feedback = {
  type: "feedback_buttons",
  action_id: "f",
  positive_button: button("1"),
  negative_button: button("0"),
};
const table = { type: "data_table", caption: "Jobs", rows: [[{ type: "raw_text", text: "a" }]] };
const card = { type: "card", title: text("A") };
const container = { type: "container", title: text("A"), child_blocks: [{ type: "divider" }] };

function errorOf(block: JsonRecord): string | undefined {
  return slackLimitError("chat.postMessage", "", [block]);
}

describe("the emulated Slack takes the blocks that were added lately", () => {
  test.each<JsonRecord>([
    { type: "alert", text: text("Disk is full"), level: "error" },
    card,
    { type: "carousel", elements: [card, card] },
    container,
    { type: "context_actions", elements: [feedback] },
    table,
  ])("$type", (block) => {
    expect(errorOf(block)).toBeUndefined();
  });
});

describe("and refuses them beyond their limits", () => {
  test.each<[string, JsonRecord]>([
    ["an alert of an unknown level", { type: "alert", text: text("x"), level: "fatal" }],
    ["a card without any content", { type: "card", icon: {} }],
    ["a card with a long body", { ...card, body: text("x".repeat(201)) }],
    ["a carousel of eleven cards", { type: "carousel", elements: Array.from({ length: 11 }, () => card) }],
    ["a carousel of other blocks", { type: "carousel", elements: [{ type: "divider" }] }],
    ["a container without a title", { ...container, title: undefined }],
    ["a container of containers", { ...container, child_blocks: [container] }],
    [
      "feedback without its second button",
      { type: "context_actions", elements: [{ ...feedback, negative_button: undefined }] },
    ],
    ["a button among feedback", { type: "context_actions", elements: [{ type: "button", action_id: "b" }] }],
    ["six elements", { type: "context_actions", elements: Array.from({ length: 6 }, () => feedback) }],
    ["a table without a caption", { ...table, caption: undefined }],
    ["a table with pages of 101 rows", { ...table, page_size: 101 }],
    ["a table with buttons", { ...table, rows: [[{ type: "button" }]] }],
    ["a type that Slack does not have", { type: "hologram" }],
  ])("%s", (_name, block) => {
    expect(errorOf(block)).toBe("invalid_blocks");
  });
});
