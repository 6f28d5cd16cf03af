import { generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import type { Bench, Figure } from "../bench.ts";
import type { RequestShape, Signing } from "../load/load-order.ts";
import { type Goal, ratioRow } from "../report.ts";
import { query } from "../setup/postgres.ts";
import { startFloor, startService } from "../setup/service.ts";
import { measureInTurns, ratiosOf, type Side } from "../windows.ts";

const CONNECTIONS = 32;
const SECRET = "the-signing-secret-of-the-benchmark";
const FORGED = 401;
const STORED_GOAL: Goal = { reach: 0.6, aim: 0.75, wants: "more" };
const FORGED_GOAL: Goal = { reach: 0.85, aim: 1, wants: "more" };

/** Removes everything that the previous round stored. */
const EMPTY_OURS = "TRUNCATE inbox_events, pgboss.job CASCADE; CHECKPOINT";
const EMPTY_FLOOR = "TRUNCATE floor_events; CHECKPOINT";

/**
 * P8, P9: events of Slack and deliveries of GitHub, stored durably with their jobs before the acknowledgement. P11: events
 * with a wrong signature. All are compared with a floor that checks the same signature.
 */
export const ingestion: Figure = {
  names: ["P8", "P9", "P11"],
  measure: async (bench) => {
    const service = await prepare(bench);
    const forged = { ...SLACK_EVENT, signing: { platform: "slack", secret: "another" } } as const;
    const cases = [
      { figure: "P8", what: "Slack event stored and acknowledged", request: SLACK_EVENT, goal: STORED_GOAL },
      { figure: "P9", what: "GitHub delivery of 10 KB stored", request: GITHUB_DELIVERY, goal: STORED_GOAL },
      {
        figure: "P11",
        what: "forged Slack event refused",
        request: forged,
        goal: FORGED_GOAL,
        status: FORGED,
      },
    ];
    const wanted = cases.filter(
      ({ figure }) => bench.options.figures.length === 0 || bench.options.figures.includes(figure),
    );
    const rows = [];
    for (const { figure, goal, request, what, ...status } of wanted) {
      bench.log(`${figure}: ${what}`);
      const { ours, floor } = await measureInTurns(
        bench,
        service.sides({ request, ...status }),
        service.empty,
      );
      rows.push(ratioRow({ figure, what }, ratiosOf(ours, floor), goal, "/s"));
    }
    return rows;
  },
};

const SLACK: Signing = { platform: "slack", secret: SECRET };
const SLACK_EVENT: RequestShape = {
  method: "POST",
  path: "/webhooks/slack",
  headers: {},
  signing: SLACK,
  body: JSON.stringify({
    token: "abcdefghijklmnopqrstuvwx",
    team_id: "T0MAIN001",
    api_app_id: "A0ERRAND",
    event: {
      type: "app_mention",
      user: "U0ALICE01",
      text: `<@U0ERRAND> ${"please find out why the nightly import skips the last line of each file. ".repeat(5)}`,
      ts: "1760000000.{n}",
      client_msg_id: "6a1ee8d1-7d0c-4a49-9d9e-5e0ad8f2b3c1",
      team: "T0MAIN001",
      channel: "C0WORK001",
      event_ts: "1760000000.{n}",
    },
    type: "event_callback",
    event_id: "Ev{n}",
    event_time: 1_760_000_000,
    authorizations: [{ enterprise_id: null, team_id: "T0MAIN001", user_id: "U0ERRAND", is_bot: true }],
    is_ext_shared_channel: false,
    event_context: "4-eyJldCI6ImFwcF9tZW50aW9uIiwidGlkIjoiVDBNQUlOMDAxIn0",
  }),
};

const GITHUB_DELIVERY: RequestShape = {
  method: "POST",
  path: "/webhooks/github",
  headers: { "x-github-event": "issue_comment", "x-github-delivery": "{n}" },
  signing: { platform: "github", secret: SECRET },
  body: JSON.stringify({
    action: "created",
    issue: { number: 7, title: "The import skips a line", body: addresses("issues/7", 60) },
    comment: { id: 1, node_id: "{n}", body: `@errand ${"please have a look at it. ".repeat(20)}` },
    repository: { id: 3_000_000_000, full_name: "acme/import", urls: addresses("contents", 60) },
    installation: { id: 500 },
  }),
};

/** As in real deliveries, most of the text is addresses. */
function addresses(path: string, count: number): readonly string[] {
  return Array.from(
    { length: count },
    (_, index) => `https://api.github.example/repos/acme/import/${path}/${index}`,
  );
}

async function prepare({ folder, postgres, cleanup }: Bench) {
  const urls = {
    ours: await postgres.database("ingestion_ours"),
    floor: await postgres.database("ingestion_floor"),
  };
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const service = await startService(folder, urls.ours, {
    SLACK_SIGNING_SECRET: SECRET,
    SLACK_BOT_TOKEN: "xoxb-of-the-benchmark",
    GITHUB_APP_ID: "1",
    GITHUB_APP_PRIVATE_KEY: privateKey.export({ type: "pkcs1", format: "pem" }).toString(),
    GITHUB_WEBHOOK_SECRET: SECRET,
    ERRAND_LOG_LEVEL: "warn",
  });
  cleanup.defer(() => service.child.stop());
  const file = join(import.meta.dirname, "ingestion-floor.ts");
  const floor = await startFloor(folder, file, urls.floor, { SIGNING_SECRET: SECRET });
  cleanup.defer(() => floor.child.stop());
  return {
    sides: ({ request, status }: { readonly request: RequestShape; readonly status?: number }) => {
      const order = {
        requests: [request],
        connections: CONNECTIONS,
        ...(status === undefined ? {} : { status }),
      };
      const sideOf = ({ child, url }: typeof floor): Side => ({ pid: child.pid, order: { ...order, url } });
      return { ours: sideOf(service), floor: sideOf(floor) };
    },
    empty: async () => {
      await query(urls.ours, EMPTY_OURS);
      await query(urls.floor, EMPTY_FLOOR);
    },
  };
}
