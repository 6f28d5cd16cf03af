import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonRecord } from "../../../support/json.ts";
import { sendSlackJson } from "../../../support/slack/slack-sender.ts";
import { SlackFixture } from "./slack-fixture.ts";

let fixture: SlackFixture;
beforeEach(async () => {
  fixture = await SlackFixture.open();
});
afterEach(() => fixture.close());

describe("malformed events with a good signature", () => {
  const message = { type: "message", channel: "C1", ts: "1.0", user: "U1", text: "hi" };
  const events: readonly [name: string, payload: JsonRecord][] = [
    ["NUL in the channel", { event: { ...message, channel: "C\u00001" } }],
    ["half a surrogate pair in ts", { event: { ...message, ts: "1.\ud800" } }],
    ["NUL in the type of the event", { event: { ...message, type: "mess\u0000age" } }],
    ["NUL in the id of the event", { event: message, event_id: "Ev\u00001" }],
    ["a very long channel", { event: { ...message, channel: "C".repeat(10_000) } }],
    ["null among the authorizations", { event: message, authorizations: [null] }],
  ];

  test.each(events)(
    "an event with %s is acknowledged, stored under plain names and ignored",
    async (_name, payload) => {
      const body = { type: "event_callback", team_id: fixture.slack.teamId, event_id: "Ev1", ...payload };

      const response = await sendSlackJson(fixture.url, body, { signingSecret: fixture.slack.signingSecret });

      expect(response.status).toBe(200);
      const stored = fixture.inbox.at(-1);
      for (const name of [stored?.orderingKey, stored?.deliveryId, stored?.name]) {
        expect(name).toMatch(/^[^\0]{1,255}$/);
        expect(name?.isWellFormed()).toBe(true);
      }
      expect(await fixture.translateLast()).toMatchObject({ kind: "ignored" });
    },
  );
});
