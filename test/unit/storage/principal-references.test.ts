import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { REFERENCES } from "../../../src/storage/principal-references.ts";

/** Columns that name principals or are JSON, which a join of two principals does not change there, and why. */
const UNMOVED: Readonly<Record<string, string>> = {
  "principals.id": "The row of the joined principal stays, with its name for what happened before.",
  "principals.joined_into": "It says which principal has what this one had.",
  "named_agents.id": "Service accounts are not joined.",
  "schedules.agent_uid": "It names a service account.",
  "secrets.owner_id": "The value is bound to its owner, so `moveSecrets` seals it anew.",
  "queue_heads.principal_id": "It only says whose turn it was.",
  "idempotent_responses.principal_id": "A response with a secret is bound to its owner: `moveAnswers`.",
  "idempotent_responses.body": "A repeated request gets the same response.",
  "run_usage.creator_id": "Triggers on `runs` keep it.",
  "run_events.body": "The log says who did what then.",
  "audit_entries.actor": "Entries never change.",
  "audit_entries.before": "Entries never change.",
  "audit_entries.after": "Entries never change.",
  ...Object.fromEntries(
    [
      "artifacts.body",
      "draft_comments.comment",
      "environments.config",
      "follow_ups.actor",
      "follow_ups.comments",
      "follow_ups.files",
      "mcp_servers.config",
      "named_agents.config",
      "named_agents.others",
      "outbox_deliveries.notice",
      "repository_changes.files",
      "request_defaults.config",
      "routing_rules.config",
      "routing_rules.match",
      "runs.activity",
      "runs.config",
      "runs.executes",
      "runs.metadata",
      "runs.outcome",
      "runs.provenance",
      "runs.pull_request_status",
      "runs.skill_snapshot",
      "runs.skill_snapshots",
      "runs.status_message",
      "schedules.config",
      "schedules.metadata",
      "teams.quotas",
      "webhook_endpoints.secrets",
      "workers.disk_use",
      "workers.starts",
    ].map((name) => [name, "It names no principal."]),
  ),
};

function read(path: string): string {
  return readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
}

/** The columns that can name a principal: by their declared type, or because they are JSON. */
function columnsOfSchema(): readonly string[] {
  return read("prisma/schema.prisma")
    .split(/^model /m)
    .flatMap((model) => {
      const table = /@@map\("(\w+)"\)/.exec(model)?.[1];
      const lines = model.split("\n").filter((line) => /\[(PrincipalId|OwnerId)\]|^ +\w+ +Json/.test(line));
      return lines.map((line) => {
        const column = /@map\("(\w+)"\)/.exec(line)?.[1] ?? /^ +(\w+)/.exec(line)?.[1];
        return `${table}.${column}`;
      });
    });
}

test("each column that can name a principal is moved by a join, or stands here with the reason", () => {
  const moved = REFERENCES.map(({ column, table }) => `${table}.${column}`);

  expect([...new Set([...moved, ...Object.keys(UNMOVED)])].sort()).toEqual([...columnsOfSchema()].sort());
  expect(Object.keys(UNMOVED).filter((name) => moved.includes(name))).toEqual([]);
});

test("each JSON column whose schema has ids of principals is moved", () => {
  const schemas = read("src/storage/json-columns.ts")
    .split(/^(?:export )?const /m)
    .filter((text) => /: .*\bprincipalId\b/.test(text))
    .map((text) => /^\w+/.exec(text)?.[0]);

  expect(schemas).toEqual(["PENDING_PERMISSION", "PAUSE", "APPROVAL", "WAITING_FOLLOW_UP", "POLICY_MATCH"]);
  expect(new Set(REFERENCES.filter(({ isJson }) => isJson === true).map(({ column }) => column))).toEqual(
    new Set(["permission", "pause", "approval", "waiting_follow_up", "match"]),
  );
});
