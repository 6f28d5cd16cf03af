import { z } from "zod";

/** All members except `apiUrl` are secrets: they are never logged and never part of an error. */
export interface SlackConfig {
  /** `SLACK_SIGNING_SECRET`: proves that a request comes from Slack. */
  readonly signingSecret: string;
  /** `SLACK_BOT_TOKEN`: the app's token in the one workspace it is installed in. */
  readonly botToken: string;
  /** `SLACK_API_URL`: where the Web API is, for GovSlack and for tests. */
  readonly apiUrl: string;
}

export interface SlackConfigReading {
  /** Undefined: Slack is off, or `problems` says what is wrong. */
  readonly config?: SlackConfig;
  readonly problems: string[];
}

const DEFAULT_API_URL = "https://slack.com/api/";

// Tokens of apps with token rotation start with xoxe and expire within hours.
const BOT_TOKEN = /^xoxb-/;

const NOT_YET: Readonly<Record<string, string>> = {
  SLACK_CLIENT_ID: "installing the app in several workspaces",
  SLACK_CLIENT_SECRET: "installing the app in several workspaces",
  SLACK_APP_TOKEN: "Socket Mode",
};

const variables = z.object({
  SLACK_SIGNING_SECRET: z.string(missing("SLACK_SIGNING_SECRET")),
  SLACK_BOT_TOKEN: z
    .string(missing("SLACK_BOT_TOKEN"))
    .regex(BOT_TOKEN, "SLACK_BOT_TOKEN is not a bot token: those start with xoxb-."),
  SLACK_API_URL: z
    .url({ protocol: /^https?$/, error: "SLACK_API_URL is not an http(s) address." })
    .default(DEFAULT_API_URL),
});

/** Shown in docs/configuration.md. */
export const slackVariableDocs = {
  SLACK_SIGNING_SECRET: {
    group: "Slack",
    default: "(Slack is off)",
    description: "Proves that a request comes from Slack. Set it together with `SLACK_BOT_TOKEN`.",
    secret: true,
  },
  SLACK_BOT_TOKEN: {
    group: "Slack",
    default: "(Slack is off)",
    description: "The app's token in its workspace. It starts with `xoxb-`.",
    secret: true,
  },
  SLACK_API_URL: {
    group: "Slack",
    default: "https://slack.com/api/",
    description: "The address of Slack's Web API, for example of GovSlack.",
  },
} as const satisfies Record<keyof typeof variables.shape, object>;

/**
 * Reads the adapter's variables. If nothing is set, the adapter is off. A partial configuration is a problem that
 * names the missing variables.
 */
export function readSlackConfig(env: Readonly<Record<string, string | undefined>>): SlackConfigReading {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim()));
  const problems = problemsOfUnsupported(given);
  if (!Object.keys(variables.shape).some((name) => name in given)) {
    return { problems };
  }
  const parsed = variables.safeParse(given);
  if (!parsed.success) {
    problems.push(...parsed.error.issues.map((issue) => issue.message));
  }
  if (!parsed.success || problems.length > 0) {
    return { problems };
  }
  const { SLACK_SIGNING_SECRET, SLACK_BOT_TOKEN, SLACK_API_URL } = parsed.data;
  const config = { signingSecret: SLACK_SIGNING_SECRET, botToken: SLACK_BOT_TOKEN, apiUrl: SLACK_API_URL };
  return { config: Object.freeze(config), problems };
}

function problemsOfUnsupported(given: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(NOT_YET)
    .filter(([name]) => name in given)
    .map(([name, feature]) => `${name} is set, but ${feature} is not supported yet: unset it.`);
}

function missing(name: string): string {
  return `${name} is missing: Slack needs both SLACK_SIGNING_SECRET and SLACK_BOT_TOKEN.`;
}
