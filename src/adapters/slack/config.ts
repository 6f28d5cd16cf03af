import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { butNot } from "../../core/basics/errors.ts";

/** All members except `apiUrl` are secrets: they are never logged and never part of an error. */
export interface SlackConfig {
  /** `SLACK_SIGNING_SECRET`: proves that a request comes from Slack. Without it there is no webhook. */
  readonly signingSecret?: string;
  /** `SLACK_APP_TOKEN`: opens connections of Socket Mode. */
  readonly appToken?: string;
  /** `SLACK_BOT_TOKEN`: the app's token in one workspace. Without it, all workspaces install the app with `oauth`. */
  readonly botToken?: string;
  /** `SLACK_API_URL`: where the Web API is, for GovSlack and for tests. */
  readonly apiUrl: string;
  /** `SLACK_CLIENT_ID` and `SLACK_CLIENT_SECRET`: people sign in with Slack, and workspaces install the app. */
  readonly oauth?: { readonly clientId: string; readonly clientSecret: string };
}

type Values = Readonly<Record<string, string | undefined>>;

export interface SlackConfigReading {
  /** Undefined: Slack is off, or `problems` says what is wrong. */
  readonly config?: SlackConfig;
  readonly problems: string[];
  /** Whether the problems are only that variables are missing. */
  readonly isPartial?: true;
}

/** A setting that the server stores with the app that it created. It is no variable. */
export const APP_ID = "SLACK_APP_ID";
const DEFAULT_API_URL = "https://slack.com/api/";

// Tokens of apps with token rotation start with xoxe and expire within hours.
const BOT_TOKEN = /^xoxb-/;

const APP_TOKEN = /^xapp-/;

const NEEDED =
  "Slack needs SLACK_BOT_TOKEN, or SLACK_CLIENT_ID and SLACK_CLIENT_SECRET; and SLACK_SIGNING_SECRET or SLACK_APP_TOKEN.";

const variables = z.object({
  SLACK_SIGNING_SECRET: z.string().optional(),
  SLACK_APP_TOKEN: z
    .string()
    .regex(APP_TOKEN, "must be an app-level token: those start with xapp-")
    .optional(),
  SLACK_BOT_TOKEN: z.string().regex(BOT_TOKEN, "must be a bot token: those start with xoxb-").optional(),
  SLACK_API_URL: z
    .string()
    .refine(
      isAddress,
      "must be an address such as https://slack.com/api/, without a user name, password or query",
    )
    .default(DEFAULT_API_URL),
  SLACK_CLIENT_ID: z.string().optional(),
  SLACK_CLIENT_SECRET: z.string().optional(),
});

/** Shown in docs/configuration.md. */
export const slackVariableDocs = {
  SLACK_SIGNING_SECRET: {
    group: "Slack",
    default: "(Slack is off)",
    description:
      "Proves that a request comes from Slack. Set it together with `SLACK_BOT_TOKEN`. With `SLACK_APP_TOKEN` it may be left out.",
    secret: true,
  },
  SLACK_APP_TOKEN: {
    group: "Slack",
    default: "(Socket Mode is off)",
    description:
      "An app-level token with `connections:write`. Events then come over connections that Errand opens, and Slack needs no address of Errand. It starts with `xapp-`.",
    secret: true,
  },
  SLACK_BOT_TOKEN: {
    group: "Slack",
    default: "(Slack is off)",
    description:
      "The app's token in one workspace. It starts with `xoxb-`. Without it, workspaces are installed on the page `/setup/slack/install`, which needs `SLACK_CLIENT_ID`.",
    secret: true,
  },
  SLACK_API_URL: {
    group: "Slack",
    default: "https://slack.com/api/",
    description: "The address of Slack's Web API, for example of GovSlack.",
  },
  SLACK_CLIENT_ID: {
    group: "Slack",
    default: "(off)",
    description:
      "The app's client id: members of the workspace sign in with Slack, and administrators install the app in further workspaces. Set it together with its secret. The redirect URLs are `<ERRAND_PUBLIC_URL>/signin/slack/callback` and `<ERRAND_PUBLIC_URL>/setup/slack/install/callback`.",
  },
  SLACK_CLIENT_SECRET: {
    group: "Slack",
    default: "(off)",
    description: "The app's client secret.",
    secret: true,
  },
} as const satisfies Record<keyof typeof variables.shape, object>;

/**
 * Reads the adapter's variables. If nothing is set, the adapter is off. A partial configuration is a problem that
 * names the missing variables.
 */
export function readSlackConfig(env: Values): SlackConfigReading {
  const values: Values = Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim()));
  const problems: string[] = [];
  // The address has a default in the template, so it does not switch Slack on.
  if (!Object.keys(variables.shape).some((name) => name in values && name !== "SLACK_API_URL")) {
    return { problems };
  }
  const parsed = variables.safeParse(values);
  const invalid = parsed.error?.issues.filter(({ path }) => String(path[0]) in values) ?? [];
  problems.push(...invalid.map((issue) => problemOf(issue, values)), ...missingIn(values));
  if (!parsed.success || problems.length > 0) {
    return invalid.length > 0 ? { problems } : { problems, isPartial: true };
  }
  const { SLACK_APP_TOKEN: appToken, SLACK_SIGNING_SECRET: signingSecret } = parsed.data;
  const { SLACK_CLIENT_ID: clientId, SLACK_CLIENT_SECRET: clientSecret, ...others } = parsed.data;
  const config = defined({
    signingSecret,
    appToken,
    botToken: others.SLACK_BOT_TOKEN,
    apiUrl: others.SLACK_API_URL,
    oauth: clientId === undefined || clientSecret === undefined ? undefined : { clientId, clientSecret },
  });
  return { config: Object.freeze(config), problems };
}

/** The address of the Web API, whether or not Slack is on. */
export function slackApiUrlOf({ SLACK_API_URL: url }: Values): string {
  return url?.trim() || DEFAULT_API_URL;
}

function missingIn(values: Values): readonly string[] {
  const { SLACK_CLIENT_ID: clientId, SLACK_CLIENT_SECRET: clientSecret } = values;
  const hasEvents = (values.SLACK_SIGNING_SECRET ?? values.SLACK_APP_TOKEN) !== undefined;
  const absent = clientId === undefined ? "SLACK_CLIENT_ID" : "SLACK_CLIENT_SECRET";
  return [
    ...(values.SLACK_BOT_TOKEN === undefined && (clientId ?? clientSecret) === undefined
      ? [`SLACK_BOT_TOKEN is missing: ${NEEDED}`]
      : []),
    ...(hasEvents ? [] : [`SLACK_SIGNING_SECRET is missing: ${NEEDED}`]),
    ...((clientId === undefined) === (clientSecret === undefined)
      ? []
      : [`${absent} is missing: signing in and installing with Slack need both.`]),
  ];
}

function problemOf({ path, message }: z.core.$ZodIssue, values: Values): string {
  const name = String(path[0]);
  return `${name}: ${message}${name === "SLACK_API_URL" ? butNot(values[name] ?? "") : ""}`;
}

function isAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && !/[?#]/.test(text);
}
