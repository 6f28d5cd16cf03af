import type { AppsManifestCreateArguments } from "@slack/web-api";
import { stringify } from "yaml";
import { defined } from "../../core/basics/defined.ts";
import { keysOf } from "../../core/basics/keys-of.ts";
import type { GuideStep, GuideWay, InstallationGuide } from "../../core/model/people/installation.ts";
import type { SlackConfig } from "./config.ts";
import { SEND } from "./form-ids.ts";

/** What the app needs in its workspace, and the guide that creates it. docs/guides/slack.md has the same manifests. */

type LibraryManifest = Extract<AppsManifestCreateArguments["manifest"], object>;
type LibraryScope = NonNullable<
  NonNullable<NonNullable<LibraryManifest["oauth_config"]>["scopes"]>["bot"]
>[number];
type LibraryEvent = NonNullable<
  NonNullable<NonNullable<LibraryManifest["settings"]>["event_subscriptions"]>["bot_events"]
>[number];
/** The library does not know the scope and the event of sessions yet. */
type BotScope = LibraryScope | "assistant:write";
type BotEvent = LibraryEvent | "agent_session_stopped";
interface Manifest extends Pick<LibraryManifest, "display_information" | "features"> {
  readonly oauth_config: { readonly redirect_urls?: string[]; readonly scopes: { readonly bot: BotScope[] } };
  readonly settings: {
    readonly event_subscriptions: { readonly request_url?: string; readonly bot_events: BotEvent[] };
    readonly interactivity: NonNullable<LibraryManifest["settings"]>["interactivity"];
    readonly socket_mode_enabled?: boolean;
  };
}

/** The scopes of the bot, each with its use. */
export const BOT_SCOPES = {
  "app_mentions:read": "receiving mentions",
  "channels:history": "reading threads of public channels",
  "groups:history": "reading threads of private channels",
  "im:history": "direct conversations with the bot",
  "im:write": "opening the direct conversation of a command",
  "mpim:history": "reading threads of group conversations",
  "chat:write": "the card, answers and questions",
  commands: "the command /errand",
  "files:read": "downloading the files of a request",
  "files:write": "uploading the files of a turn, when a person presses Files",
  "reactions:read": "❌ on a request, which stops its run",
  "reactions:write": "👀, ✅, ❌ and 🛑 on requests",
  "users:read": "checking that an author is a full member of the workspace",
} satisfies Partial<Record<BotScope, string>>;

/** Scopes without which only names, previews of links and the status of threads are missing. Apps that were created before them work on. */
export const OPTIONAL_BOT_SCOPES = {
  "assistant:write": "the status of a run beside its thread, and Slack's own Stop",
  "channels:read": "names of public channels in requests",
  "groups:read": "names of private channels in requests",
  "links:read": "addresses of runs in messages",
  "links:write": "previews of these addresses",
  "usergroups:read": "names of groups in requests",
} satisfies Partial<Record<BotScope, string>>;

export const ALL_BOT_SCOPES = { ...BOT_SCOPES, ...OPTIONAL_BOT_SCOPES };

/** The events that the app subscribes to, each with its use. */
const BOT_EVENTS = {
  agent_session_stopped: "Slack's own Stop in a thread",
  app_home_opened: "drawing the Home tab",
  app_mention: "mentions of the bot",
  app_uninstalled: "the end of the installation",
  link_shared: "previews of addresses of runs",
  "message.channels": "replies in threads of public channels",
  "message.groups": "replies in threads of private channels",
  "message.im": "direct conversations with the bot",
  "message.mpim": "replies in group conversations",
  reaction_added: "❌ on a request",
  team_access_revoked: "the end of the app in a workspace of an organization",
  tokens_revoked: "the end of the bot's token",
} satisfies Partial<Record<BotEvent, string>>;

type Transport = "http" | "socket";

/** The manifest of an app for the server at this address. */
export function appManifest(publicUrl: string, transport: Transport): Manifest {
  const address = `${publicUrl}/webhooks/slack`;
  const url = transport === "http" ? { url: address } : {};
  const requestUrl = transport === "http" ? { request_url: address } : {};
  const menuUrl = transport === "http" ? { message_menu_options_url: address } : {};
  return {
    display_information: { name: "Errand", description: "Runs a coding agent for you" },
    features: {
      // Slack refuses addresses without a domain.
      ...defined({ unfurl_domains: isHttps(publicUrl) ? [new URL(publicUrl).hostname] : undefined }),
      bot_user: { display_name: "errand", always_online: true },
      agent_view: { agent_description: "Runs a coding agent for you" },
      app_home: {
        home_tab_enabled: true,
        messages_tab_enabled: true,
        messages_tab_read_only_enabled: false,
      },
      shortcuts: [
        {
          name: "Send to Errand",
          type: "message",
          callback_id: SEND,
          description: "Starts a run about this message",
        },
      ],
      slash_commands: [
        {
          command: "/errand",
          description: "Starts a run, or shows your runs",
          usage_hint: "<task> | runs | settings | link | doctor | help",
          ...url,
        },
      ],
    },
    oauth_config: {
      // Slack takes only https.
      ...defined({
        redirect_urls: isHttps(publicUrl)
          ? [`${publicUrl}/signin/slack/callback`, `${publicUrl}/setup/slack/install/callback`]
          : undefined,
      }),
      scopes: { bot: keysOf(ALL_BOT_SCOPES) },
    },
    settings: defined({
      event_subscriptions: { ...requestUrl, bot_events: keysOf(BOT_EVENTS) },
      interactivity: { is_enabled: true, ...requestUrl, ...menuUrl },
      socket_mode_enabled: transport === "socket" ? true : undefined,
    }),
  };
}

export function manifestText(publicUrl: string, transport: Transport): string {
  return stringify(appManifest(publicUrl, transport), { lineWidth: 0 });
}

export function slackGuide(
  publicUrl: string,
  config: Pick<SlackConfig, "oauth"> | undefined,
  appId?: string,
): InstallationGuide {
  const enabled = config !== undefined;
  const isManaged = appId !== undefined || (!enabled && isHttps(publicUrl));
  return {
    ...defined({ managed: isManaged ? { isCreated: appId !== undefined, ...MANAGED } : undefined }),
    ...defined({ installUrl: config?.oauth && `${publicUrl}/setup/slack/install` }),
    adapter: "slack",
    title: "Slack",
    enabled,
    ways: [
      defined({
        title: "With a public address",
        summary: `Slack sends events to ${publicUrl}/webhooks/slack.`,
        obstacle: !isHttps(publicUrl)
          ? `Slack sends events only to an https address that it reaches. The address of this server is ${publicUrl}. Set ERRAND_PUBLIC_URL to a public address and restart, or use Socket Mode.`
          : undefined,
        steps: [
          createStep(publicUrl, "http"),
          INSTALL_STEP,
          variablesStep([
            { name: "SLACK_SIGNING_SECRET", source: "Basic Information → App Credentials → Signing Secret" },
            BOT_TOKEN,
          ]),
          {
            title: "Confirm the address",
            text: "After the restart, open Event Subscriptions in the app's settings. If the request URL is not verified, press Retry beside it.",
          },
          TRY_STEP,
          SIGN_IN_STEP,
        ],
      }),
      socketModeWay(publicUrl),
    ],
    needs: [
      ...Object.entries(ALL_BOT_SCOPES).map(([name, use]) => ({ kind: "scope", name, use }) as const),
      ...Object.entries(BOT_EVENTS).map(([name, use]) => ({ kind: "event", name, use }) as const),
    ],
  };
}

function socketModeWay(publicUrl: string): GuideWay {
  return {
    title: "Without a public address (Socket Mode)",
    summary: "Errand opens a connection to Slack. Slack needs no address of this server.",
    steps: [
      createStep(publicUrl, "socket"),
      {
        title: "Create the token of the connection",
        text: "In the app's settings: Basic Information → App-Level Tokens → Generate Token and Scopes, with the scope connections:write.",
      },
      INSTALL_STEP,
      variablesStep([
        {
          name: "SLACK_APP_TOKEN",
          source: "Basic Information → App-Level Tokens. It begins with xapp-",
        },
        BOT_TOKEN,
      ]),
      TRY_STEP,
    ],
  };
}

const MANAGED = {
  text: "On Slack's page, press Generate Token under Your App Configuration Tokens, and paste both tokens. Errand keeps them encrypted, to create the app and to update it later. What was added to the app stays.",
  link: { title: "Your Slack apps", url: "https://api.slack.com/apps" },
};

const BOT_TOKEN = {
  name: "SLACK_BOT_TOKEN",
  source: "OAuth & Permissions → Bot User OAuth Token. It begins with xoxb-",
};

const INSTALL_STEP: GuideStep = {
  title: "Install it",
  text: "In the app's settings, choose Install App → Install to Workspace, and allow the scopes.",
  links: [{ title: "Your Slack apps", url: "https://api.slack.com/apps" }],
};

const TRY_STEP: GuideStep = {
  title: "Try it",
  text: "In a channel, invite the bot and mention it. It answers with 👀 and a card.",
  snippets: [
    { title: "Invitation", text: "/invite @errand" },
    { title: "Request", text: "@errand say hello" },
  ],
};

const SIGN_IN_STEP: GuideStep = {
  title: "Let people sign in with Slack (optional)",
  text: "Members of the workspace can then sign in to these pages.",
  variables: [
    { name: "SLACK_CLIENT_ID", source: "Basic Information → App Credentials → Client ID" },
    { name: "SLACK_CLIENT_SECRET", source: "Basic Information → App Credentials → Client Secret" },
  ],
};

function createStep(publicUrl: string, transport: Transport): GuideStep {
  const parameters = new URLSearchParams({
    new_app: "1",
    manifest_json: JSON.stringify(appManifest(publicUrl, transport)),
  });
  return {
    title: "Create the app",
    text: "Choose your workspace in Slack's form and confirm the manifest. If the form is empty, choose From a manifest and paste it.",
    links: [{ title: "Create the app from the manifest", url: `https://api.slack.com/apps?${parameters}` }],
    snippets: [{ title: "Manifest", text: manifestText(publicUrl, transport) }],
  };
}

function variablesStep(variables: NonNullable<GuideStep["variables"]>): GuideStep {
  return {
    title: "Set the variables and restart Errand",
    text: "All processes of Errand need them: API processes receive events, and workers answer them. npm start takes them from the shell that starts it, and Docker Compose from the file .env.",
    variables,
  };
}

export function isHttps(url: string): boolean {
  return url.startsWith("https://");
}
