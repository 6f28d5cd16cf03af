import type { WebClientOptions } from "@slack/web-api";
import { z } from "zod";
import { AppError } from "../../core/basics/errors.ts";
import type { AdapterFacts } from "../../core/ports/adapter-facts.ts";
import { type Check, type Finding, fail, ok, statusOf, warn } from "../../core/ports/check.ts";
import { clockCheck, explained, shared } from "../platform-checks.ts";
import { BOT_SCOPES, OPTIONAL_BOT_SCOPES } from "./app-manifest.ts";
import { methodUrl } from "./client.ts";
import type { SlackConfig } from "./config.ts";
import { remedyOf } from "./errors.ts";
import type { Installs } from "./installs.ts";

/** Below the time that the doctor waits for a check. */
const ANSWER_LIMIT_MS = 4_000;
/** The checks of more workspaces would use up what Slack allows in a minute. */
const CHECKED_MAX = 50;

const authAnswer = z.object({
  ok: z.boolean(),
  error: z.string().optional(),
  user: z.string().optional(),
  team: z.string().optional(),
});

interface AuthAnswer {
  readonly body: z.output<typeof authAnswer>;
  readonly headers: Pick<Headers, "get">;
}

/** A token of the app, and what an operator does when it is wrong. */
interface Token {
  /** Undefined: that of `SLACK_BOT_TOKEN`. */
  readonly workspace?: string;
  readonly again: string;
  ask(): Promise<AuthAnswer>;
}

export interface TokenCheckDeps {
  readonly facts: Pick<AdapterFacts, "now" | "publicUrl">;
  readonly fetch: NonNullable<WebClientOptions["fetch"]>;
  readonly installs: Pick<Installs, "listConnected" | "tokenOf"> | undefined;
}

/** Whether Slack accepts each token of the app, with all scopes of the manifest. */
export function tokenChecks(config: SlackConfig, deps: TokenCheckDeps): readonly Check[] {
  if (config.botToken === undefined && deps.installs === undefined) {
    return [];
  }
  const tokens = shared(() => tokensOf(config, deps));
  return [
    checkOfEach("slack_token", tokens, acceptance),
    checkOfEach("slack_scopes", tokens, scopes),
    clockCheck(
      "slack_clock",
      "Slack",
      async () => (await (await tokens())[0]?.ask())?.headers.get("date"),
      () => deps.facts.now(),
    ),
  ];
}

async function tokensOf(
  { apiUrl, botToken }: SlackConfig,
  { facts, fetch, installs }: TokenCheckDeps,
): Promise<readonly Token[]> {
  const connected = (await installs?.listConnected()) ?? [];
  const installAgain = `install the app there again on ${facts.publicUrl()}/setup/slack/install`;
  const stored = connected.slice(0, CHECKED_MAX).map(
    ({ externalId, name = externalId }): Token => ({
      workspace: name || externalId,
      again: installAgain,
      ask: shared(async () => {
        const found = await installs?.tokenOf({ teamId: externalId });
        return askWhoWeAre({ apiUrl, botToken: found ?? "" }, fetch);
      }),
    }),
  );
  const again = "reinstall the app, and set SLACK_BOT_TOKEN if it changed";
  const fixed =
    botToken === undefined ? [] : [{ again, ask: shared(() => askWhoWeAre({ apiUrl, botToken }, fetch)) }];
  return [...fixed, ...stored];
}

/** The findings of all tokens as one: the worst status, and what each one that is not right needs. */
function checkOfEach(
  name: string,
  tokens: () => Promise<readonly Token[]>,
  look: (token: Token) => Promise<Finding>,
): Check {
  return {
    name,
    run: () =>
      explained(async () => {
        const all = await tokens();
        const findings = await Promise.all(
          all.map(async (token) => inWorkspace(token, await explained(() => look(token)))),
        );
        const open = findings.filter(({ status }) => status !== "ok");
        const [first, ...others] = open.length > 0 ? open : findings;
        if (first === undefined) {
          return ok("No workspace has installed the app yet.");
        }
        if (open.length === 0 && others.length > 0) {
          return ok(`It is right in all ${findings.length} workspaces.`);
        }
        const remedies = new Set(open.flatMap(({ remedy }) => remedy ?? []));
        return {
          status: statusOf(open),
          message: [first, ...others].map(({ message }) => message).join(" "),
          ...(remedies.size > 0 && { remedy: [...remedies].join(" ") }),
        };
      }),
  };
}

function inWorkspace({ workspace }: Token, finding: Finding): Finding {
  return workspace === undefined ? finding : { ...finding, message: `${workspace}: ${finding.message}` };
}

/** Not by the client of the adapter, because that does not show the headers of an answer. */
async function askWhoWeAre(
  { apiUrl, botToken }: { readonly apiUrl: string; readonly botToken: string },
  fetch: TokenCheckDeps["fetch"],
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

async function acceptance({ again, ask, workspace }: Token): Promise<Finding> {
  const { error = "unknown", ok: isOk, team = "?", user = "?" } = (await ask()).body;
  if (isOk) {
    return ok(`The token is that of @${user} in the workspace ${team}.`);
  }
  const remedy = remedyOf(error) ?? "Set SLACK_BOT_TOKEN to the token of an installed app.";
  return fail(`Slack refuses the token: ${error}.`, workspace === undefined ? remedy : sentence(again));
}

async function scopes({ again, ask }: Token): Promise<Finding> {
  const { body, headers } = await ask();
  const granted = headers.get("x-oauth-scopes");
  if (!body.ok || granted === null) {
    return warn("Slack did not say which scopes the token has.", "Repair what slack_token names.");
  }
  const all = new Set(granted.split(",").map((scope) => scope.trim()));
  const remedy = `Add them under OAuth & Permissions, ${again}.`;
  const missing = missingOf(BOT_SCOPES, all);
  if (missing !== "") {
    return fail(`The token lacks scopes: ${missing}.`, remedy);
  }
  const optional = missingOf(OPTIONAL_BOT_SCOPES, all);
  return optional === ""
    ? ok("The token has all scopes of the manifest.")
    : warn(`The token lacks optional scopes: ${optional}.`, remedy);
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

function missingOf(wanted: Readonly<Record<string, string>>, granted: ReadonlySet<string>): string {
  const missing = Object.entries(wanted).filter(([scope]) => !granted.has(scope));
  return missing.map(([scope, use]) => `${scope} (${use})`).join(", ");
}
