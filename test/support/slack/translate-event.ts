import type { Bot } from "../../../src/adapters/slack/identity.ts";
import { StoredEvents } from "../../../src/adapters/slack/stored-events.ts";
import { Workspaces } from "../../../src/adapters/slack/workspaces.ts";
import type { InboxEvent, Translation } from "../../../src/core/ports/thread-adapter.ts";
import { ManualClock } from "../manual-clock.ts";

/** Replays a stored event through the listeners of the adapter, which ask Slack only who the bot is. */
export function translateEvent(event: InboxEvent, bot: Bot): Promise<Translation> {
  const config = { apiUrl: "http://127.0.0.1:9/api/", botToken: "xoxb-1" };
  const { botId: bot_id, name: user, teamId: team_id, userId: user_id, workspaceUrl: url } = bot;
  const fetch = async () => Response.json({ ok: true, bot_id, team_id, user_id, url, user });
  const deps = { clock: new ManualClock(), fetch };
  return new StoredEvents(config, { ...deps, workspaces: new Workspaces(config, deps) }).translate(event);
}
