import type { WebClientOptions } from "@slack/web-api";
import { z } from "zod";
import { AppError } from "../../core/basics/errors.ts";
import type { ThreadKey } from "../../core/basics/ids.ts";
import type { AdapterFacts } from "../../core/ports/adapter-facts.ts";
import { type Check, fail, ok, warn } from "../../core/ports/check.ts";
import type { AppInstallations } from "../../core/ports/stores/app-installations.ts";
import { clockCheck, eventsCheck, explained, shared } from "../platform-checks.ts";
import type { WebhookArrivals } from "../webhook-route.ts";
import { parseThreadKey } from "./addresses.ts";
import { BOT_SCOPES, OPTIONAL_BOT_SCOPES } from "./app-manifest.ts";
import { methodUrl } from "./client.ts";
import type { SlackConfig } from "./config.ts";
import { remedyOf } from "./errors.ts";
import type { Ingest } from "./ingest.ts";

/** Below the time that the doctor waits for a check. */
const ANSWER_LIMIT_MS = 4_000;
const SHOWN_CHANNELS = 5;
const SHOWN_WORKSPACES = 5;
/** Dropped events are old news after this time. */
const DROPPED_MS = 24 * 60 * 60_000;

const authAnswer = z.object({
  ok: z.boolean(),
  error: z.string().optional(),
  user: z.string().optional(),
  team: z.string().optional(),
});

type Fetch = NonNullable<WebClientOptions["fetch"]>;

export interface CheckDeps {
  readonly arrivals: WebhookArrivals;
  readonly facts: AdapterFacts;
  readonly fetch: Fetch;
  readonly ingest: Pick<Ingest, "droppedAt">;
  readonly installations: Pick<AppInstallations, "listUnconnected"> | undefined;
}

/** The checks of the app in its workspace. */
export function slackChecks(
  config: SlackConfig,
  { arrivals, facts, fetch, ingest, installations }: CheckDeps,
): readonly Check[] {
  return [
    ...tokenChecks(config, facts, fetch),
    ...(config.signingSecret === undefined ? [] : [webhookCheck(arrivals, facts)]),
    droppedCheck(ingest, facts),
    channelsCheck(facts),
    ...(installations === undefined ? [] : [unconnectedCheck(config, installations, facts)]),
  ];
}

/** Without `SLACK_BOT_TOKEN`, all workspaces are stored installations. */
function tokenChecks({ apiUrl, botToken }: SlackConfig, facts: AdapterFacts, fetch: Fetch): readonly Check[] {
  if (botToken === undefined) {
    return [];
  }
  const ask = shared(() => askWhoWeAre({ apiUrl, botToken }, fetch));
  return [
    tokenCheck(ask),
    scopesCheck(ask),
    clockCheck(
      "slack_clock",
      "Slack",
      async () => (await ask()).headers.get("date"),
      () => facts.now(),
    ),
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

interface AuthAnswer {
  readonly body: z.output<typeof authAnswer>;
  readonly headers: Pick<Headers, "get">;
}

type Ask = () => Promise<AuthAnswer>;

/** Not by the client of the adapter, because that does not show the headers of an answer. */
async function askWhoWeAre(
  { apiUrl, botToken }: { readonly apiUrl: string; readonly botToken: string },
  fetch: Fetch,
): Promise<AuthAnswer> {
  try {
    const response = await fetch(methodUrl(apiUrl, "auth.test"), {
      method: "POST",
      headers: { authorization: `Bearer ${botToken}` },
      redirect: "error",
      signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
    });
    return { body: authAnswer.parse(await response.json()), headers: response.headers };
  } catch (cause) {
    throw new AppError("resource_unavailable", "Slack gave no answer to auth.test.", {
      cause,
      remedy: "See that this machine reaches SLACK_API_URL, and look at Slack's own status.",
    });
  }
}

function tokenCheck(ask: Ask): Check {
  return {
    name: "slack_token",
    run: () =>
      explained(async () => {
        const { error = "unknown", ok: isOk, team = "?", user = "?" } = (await ask()).body;
        return isOk
          ? ok(`The token is that of @${user} in the workspace ${team}.`)
          : fail(
              `Slack refuses the token: ${error}.`,
              remedyOf(error) ?? "Set SLACK_BOT_TOKEN to the token of an installed app.",
            );
      }),
  };
}

function scopesCheck(ask: Ask): Check {
  return {
    name: "slack_scopes",
    run: () =>
      explained(async () => {
        const { body, headers } = await ask();
        const granted = headers.get("x-oauth-scopes");
        if (!body.ok || granted === null) {
          return warn("Slack did not say which scopes the token has.", "Repair what slack_token names.");
        }
        const scopes = new Set(granted.split(",").map((scope) => scope.trim()));
        const missing = missingOf(BOT_SCOPES, scopes);
        const remedy =
          "Add them under OAuth & Permissions, reinstall the app, and set SLACK_BOT_TOKEN if it changed.";
        if (missing !== "") {
          return fail(`The token lacks scopes: ${missing}.`, remedy);
        }
        const optional = missingOf(OPTIONAL_BOT_SCOPES, scopes);
        return optional === ""
          ? ok("The token has all scopes of the manifest.")
          : warn(`The token lacks optional scopes: ${optional}.`, remedy);
      }),
  };
}

function missingOf(wanted: Readonly<Record<string, string>>, granted: ReadonlySet<string>): string {
  const missing = Object.entries(wanted).filter(([scope]) => !granted.has(scope));
  return missing.map(([scope, use]) => `${scope} (${use})`).join(", ");
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
