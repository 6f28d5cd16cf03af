import { WebClient } from "@slack/web-api";
import type { Bot } from "../../../src/adapters/slack/identity.ts";
import { StoredEvents } from "../../../src/adapters/slack/stored-events.ts";
import type { InboxEvent, Translation } from "../../../src/core/ports/thread-adapter.ts";
import { ManualClock } from "../manual-clock.ts";

/** Replays a stored event through the listeners of the adapter, without a connection to Slack. */
export function translateEvent(event: InboxEvent, bot: Bot): Promise<Translation> {
  const config = { apiUrl: "http://127.0.0.1:9/api/", botToken: "xoxb-1" };
  const identity = { get: async () => bot };
  return new StoredEvents(config, { client: new WebClient(), clock: new ManualClock(), identity }).translate(
    event,
  );
}
