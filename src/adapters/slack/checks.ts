import type { WebClientOptions } from "@slack/web-api";
import type { ThreadKey } from "../../core/basics/ids.ts";
import type { AdapterFacts } from "../../core/ports/adapter-facts.ts";
import { type Check, ok, warn } from "../../core/ports/check.ts";
import type { AppInstallations } from "../../core/ports/stores/app-installations.ts";
import { eventsCheck } from "../platform-checks.ts";
import type { WebhookArrivals } from "../webhook-route.ts";
import { parseThreadKey } from "./addresses.ts";
import type { SlackConfig } from "./config.ts";
import type { Ingest } from "./ingest.ts";
import type { Installs } from "./installs.ts";
import { tokenChecks } from "./token-checks.ts";

const SHOWN_CHANNELS = 5;
const SHOWN_WORKSPACES = 5;
/** Dropped events are old news after this time. */
const DROPPED_MS = 24 * 60 * 60_000;

type Fetch = NonNullable<WebClientOptions["fetch"]>;

export interface CheckDeps {
  readonly arrivals: WebhookArrivals;
  readonly facts: AdapterFacts;
  readonly fetch: Fetch;
  readonly ingest: Pick<Ingest, "droppedAt">;
  readonly installations: Pick<AppInstallations, "listUnconnected"> | undefined;
  readonly installs: Pick<Installs, "listConnected" | "tokenOf"> | undefined;
}

/** The checks of the app in its workspaces. */
export function slackChecks(
  config: SlackConfig,
  { arrivals, facts, fetch, ingest, installations, installs }: CheckDeps,
): readonly Check[] {
  return [
    ...tokenChecks(config, { facts, fetch, installs }),
    ...(config.signingSecret === undefined ? [] : [webhookCheck(arrivals, facts)]),
    droppedCheck(ingest, facts),
    channelsCheck(facts),
    ...(installations === undefined ? [] : [unconnectedCheck(config, installations, facts)]),
  ];
}

/** Without a signing secret, all events come by Socket Mode, which has a check of its own. */
function webhookCheck(arrivals: WebhookArrivals, facts: AdapterFacts): Check {
  return eventsCheck(
    {
      name: "slack_events",
      platform: "Slack",
      path: "/webhooks/slack",
      secret: "SLACK_SIGNING_SECRET",
      setting: "the request URL under Event Subscriptions",
    },
    arrivals,
    facts,
  );
}

/** Slack tells an app when it drops its events: https://docs.slack.dev/reference/events/app_rate_limited */
function droppedCheck(ingest: CheckDeps["ingest"], facts: AdapterFacts): Check {
  return {
    name: "slack_rate_limit",
    async run() {
      const { droppedAt } = ingest;
      if (droppedAt === undefined || facts.now().getTime() - droppedAt.getTime() > DROPPED_MS) {
        return ok("Slack has not said lately that it dropped events.");
      }
      return warn(
        `Slack said at ${droppedAt.toISOString()} that it drops events of the app.`,
        "People must repeat requests that had no answer. Slack drops events above 30,000 an hour, so remove the bot from " +
          "busy channels that do not use it. It also does so if too many were not answered with HTTP 200: see slack_events.",
      );
    },
  };
}

/** A mention there has no answer, because there is no token for one. */
function unconnectedCheck(
  { oauth }: SlackConfig,
  installations: Pick<AppInstallations, "listUnconnected">,
  facts: AdapterFacts,
): Check {
  return {
    name: "slack_workspaces",
    async run() {
      const unconnected = await installations.listUnconnected("slack");
      const [newest] = unconnected;
      if (newest === undefined) {
        return ok("No workspace that is not connected has written to Errand in the last days.");
      }
      const ids = unconnected.map(({ externalId }) => externalId);
      const more = ids.length > SHOWN_WORKSPACES ? ` and ${ids.length - SHOWN_WORKSPACES} more` : "";
      const page = `${facts.publicUrl()}/setup/slack/install`;
      return warn(
        `The ${ids.length === 1 ? "workspace" : "workspaces"} ${ids.slice(0, SHOWN_WORKSPACES).join(", ")}${more} wrote to Errand and ` +
          `${ids.length === 1 ? "is" : "are"} not connected. The last message came at ${newest.lastReceivedAt.toISOString()}.`,
        oauth === undefined
          ? `Set SLACK_CLIENT_ID and SLACK_CLIENT_SECRET, restart, and install the app there on ${page}.`
          : `Install the app there on ${page}, or remove it there in Slack. Once it is installed, the messages of the last hour are answered.`,
      );
    },
  };
}

/** Slack's codes for a channel that the bot cannot post to. */
const CLOSED = /\b(not_in_channel|channel_not_found|is_archived)\b/;

function channelsCheck(facts: AdapterFacts): Check {
  return {
    name: "slack_channels",
    async run() {
      const dead = await facts.deadNotices();
      const reasons = new Map<string, string>();
      for (const { error, threadKey } of dead) {
        const code = CLOSED.exec(error)?.[1];
        if (code !== undefined) {
          reasons.set(parseThreadKey(threadKey as ThreadKey).channel, code);
        }
      }
      if (reasons.size === 0) {
        return ok("No message failed lately because its channel is closed to the bot.");
      }
      const shown = Array.from(reasons, ([channel, code]) => `${channel} (${code})`).slice(0, SHOWN_CHANNELS);
      const more = reasons.size > shown.length ? ` and ${reasons.size - shown.length} more` : "";
      return warn(
        `The bot could not post to ${shown.join(", ")}${more}.`,
        "Invite the bot to these channels or unarchive them. Then retry the notices of GET /api/v1/agent/notices?state=dead.",
      );
    },
  };
}
