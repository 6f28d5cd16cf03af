import { z } from "zod";
import type { Log } from "../../core/basics/log.ts";
import type { AdapterFacts } from "../../core/ports/adapter-facts.ts";
import { type Check, fail, ok, warn } from "../../core/ports/check.ts";
import { clockCheck, eventsCheck, explained, shared } from "../platform-checks.ts";
import type { WebhookArrivals } from "../webhook-route.ts";
import { APP_EVENTS, APP_PERMISSIONS } from "./app-settings.ts";
import { GithubClient } from "./client.ts";
import type { GithubConfig } from "./config.ts";

/** Below the time that the doctor waits for a check. */
const ANSWER_LIMIT_MS = 4_000;
/** How many installations are asked for what is left of their rate limit. */
const BUDGETS_MAX = 5;
const LOW_SHARE = 0.1;
const DELIVERIES = 30;

const permissions = z.record(z.string(), z.string());
const appAnswer = z.object({ slug: z.string(), permissions, events: z.array(z.string()) });
const hookAnswer = z.object({ url: z.string().optional(), content_type: z.string().optional() });
const deliveriesAnswer = z.array(
  z.object({ delivered_at: z.string(), status: z.string(), status_code: z.number(), event: z.string() }),
);
const installationsAnswer = z.array(
  z.object({
    id: z.number(),
    account: z.object({ login: z.string().optional() }).nullable(),
    suspended_at: z.string().nullish(),
    permissions: permissions.optional(),
  }),
);
const rateAnswer = z.object({
  resources: z.object({ core: z.object({ limit: z.number(), remaining: z.number(), reset: z.number() }) }),
});

type Installations = z.output<typeof installationsAnswer>;

export interface CheckDeps {
  readonly arrivals: WebhookArrivals;
  readonly facts: AdapterFacts;
  readonly fetch: typeof globalThis.fetch;
  readonly log: Log;
}

/** The checks of the App on GitHub. */
export function githubChecks(
  config: GithubConfig,
  { arrivals, facts, fetch, log }: CheckDeps,
): readonly Check[] {
  let date: string | null = null;
  // A client of its own, because the one of the adapter waits longer and does not show the headers of an answer.
  const bounded: typeof fetch = async (input, init) => {
    const answer = await fetch(input, { ...init, signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
    date = answer.headers.get("date");
    return answer;
  };
  const client = new GithubClient(config, { log, fetch: bounded });
  const askApp = shared(() => client.asApp({ route: "GET /app", parameters: {}, answer: appAnswer }));
  const askInstallations = shared(() =>
    client.asApp({
      route: "GET /app/installations",
      parameters: { per_page: 100 },
      answer: installationsAnswer,
    }),
  );
  return [
    appCheck(askApp),
    installationsCheck(askInstallations),
    webhookCheck(client, facts),
    deliveriesCheck(client),
    rateCheck(client, askInstallations),
    clockCheck(
      "github_clock",
      "GitHub",
      () => askApp().then(() => date),
      () => facts.now(),
    ),
    eventsCheck(
      {
        name: "github_events",
        platform: "GitHub",
        path: "/webhooks/github",
        secret: "GITHUB_WEBHOOK_SECRET",
        setting: "the App's webhook URL",
      },
      arrivals,
      facts,
    ),
  ];
}

function appCheck(ask: () => Promise<z.output<typeof appAnswer>>): Check {
  return {
    name: "github_app",
    run: () =>
      explained(async () => {
        const { events, permissions: granted, slug } = await ask();
        const missing = [
          ...missingPermissions(granted),
          ...APP_EVENTS.filter((event) => !events.includes(event)).map((event) => `the event ${event}`),
        ];
        return missing.length === 0
          ? ok([`The App ${slug} has all permissions and events.`, ...optionalPermissions(granted)].join(" "))
          : fail(
              `The App ${slug} lacks ${missing.join(", ")}.`,
              "Add them in the App's settings under Permissions & events. Then each account accepts the new permissions.",
            );
      }),
  };
}

/** `write` includes `read`, and `admin` both. */
function missingPermissions(granted: Readonly<Record<string, string>>): string[] {
  return Object.entries(APP_PERMISSIONS)
    .filter(([name, { access, required = access }]) => !includes(granted[name], required))
    .map(([name, { access, required = access, use }]) => `${name}: ${required} (${use})`);
}

function includes(given: string | undefined, access: "read" | "write"): boolean {
  return given !== undefined && (access === "read" || given !== "read");
}

/** What the App could do besides, with more access. */
function optionalPermissions(granted: Readonly<Record<string, string>>): string[] {
  return Object.entries(APP_PERMISSIONS).flatMap(([name, { access, optional }]) =>
    optional === undefined || includes(granted[name], access)
      ? []
      : [`Optional: ${name}: ${access} (${optional}).`],
  );
}

function installationsCheck(ask: () => Promise<Installations>): Check {
  return {
    name: "github_installations",
    run: () =>
      explained(async () => {
        const installations = await ask();
        if (installations.length === 0) {
          return warn("The App is installed nowhere.", "Install it on an account, in the App's settings.");
        }
        const problems = installations.flatMap(({ account, permissions: granted = {}, suspended_at }) => {
          const where = account?.login ?? "an account";
          if (suspended_at) {
            return [`${where} has suspended it`];
          }
          const missing = missingPermissions(granted);
          return missing.length === 0 ? [] : [`${where} has not accepted ${missing.join(", ")}`];
        });
        return problems.length === 0
          ? ok(`Installed on ${installations.length} accounts, with all permissions.`)
          : warn(
              `Of ${installations.length} installations, not all work: ${problems.join("; ")}.`,
              "The owner of the account resumes the App, or accepts its permissions, under Settings → GitHub Apps.",
            );
      }),
  };
}

function webhookCheck(client: GithubClient, facts: AdapterFacts): Check {
  return {
    name: "github_webhook",
    run: () =>
      explained(async () => {
        const route = "GET /app/hook/config";
        const hook = await client.asApp({ route, parameters: {}, answer: hookAnswer });
        const expected = `${facts.publicUrl()}/webhooks/github`;
        if (hook.url !== expected) {
          return warn(
            `The App sends its events to ${hook.url ? originAndPath(hook.url) : "no address"}.`,
            `Set the webhook URL in the App's settings to ${expected}, unless a proxy leads from there to here.`,
          );
        }
        return hook.content_type === "json"
          ? ok(`The App sends its events to ${expected}.`)
          : fail(
              "The App sends its events as a form.",
              "Set the content type in the App's settings to application/json.",
            );
      }),
  };
}

/** An address may contain credentials. */
function originAndPath(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  return url === undefined ? "an address that cannot be read" : `${url.origin}${url.pathname}`;
}

function deliveriesCheck(client: GithubClient): Check {
  return {
    name: "github_deliveries",
    run: () =>
      explained(async () => {
        const parameters = { per_page: DELIVERIES };
        const route = "GET /app/hook/deliveries";
        const deliveries = await client.asApp({ route, parameters, answer: deliveriesAnswer });
        const [last] = deliveries;
        const failed = deliveries.filter(({ status_code: code }) => code < 200 || code >= 300);
        if (last === undefined || failed.length === 0) {
          return ok(
            last === undefined
              ? "GitHub has delivered nothing yet."
              : `The last ${deliveries.length} arrived.`,
          );
        }
        const [newest] = failed;
        const report = newest === last ? fail : warn;
        return report(
          `${failed.length} of the last ${deliveries.length} deliveries failed, the last one at ${newest?.delivered_at}: ${newest?.status} (${newest?.status_code}).`,
          "See that GitHub reaches the webhook URL, and that GITHUB_WEBHOOK_SECRET is the App's secret. Errand takes failed deliveries from this list every few minutes.",
        );
      }),
  };
}

function rateCheck(client: GithubClient, ask: () => Promise<Installations>): Check {
  return {
    name: "github_rate_limit",
    run: () =>
      explained(async () => {
        const active = (await ask()).filter(({ suspended_at }) => !suspended_at).slice(0, BUDGETS_MAX);
        const budgets = await Promise.all(
          active.map(async ({ account, id }) => {
            const { resources } = await client.call(String(id), {
              route: "GET /rate_limit",
              parameters: {},
              answer: rateAnswer,
            });
            return { where: account?.login ?? String(id), ...resources.core };
          }),
        );
        const figures = budgets.map(({ limit, remaining, where }) => `${where}: ${remaining} of ${limit}`);
        const low = budgets.filter(({ limit, remaining }) => remaining < limit * LOW_SHARE);
        if (low.length === 0) {
          return ok(figures.length === 0 ? "No installation to ask." : `Calls left: ${figures.join(", ")}.`);
        }
        const reset = new Date(Math.max(...low.map(({ reset: seconds }) => seconds)) * 1_000);
        return warn(
          `Few calls are left: ${figures.join(", ")}.`,
          `Answers are late until ${reset.toISOString()}. Look whether another program uses the same App.`,
        );
      }),
  };
}
