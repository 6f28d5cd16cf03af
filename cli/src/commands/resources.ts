import type { Command } from "commander";
import { MEMBERS } from "../generated/members.ts";
import { addDeliveryCommands } from "./deliveries.ts";
import { addResource, type Flag, type Resource } from "./resource.ts";

const text = (name: string, member: string, help: string): Flag => ({ kind: "text", name, member, help });
const list = (name: string, member: string, help: string): Flag => ({ kind: "list", name, member, help });
const count = (name: string, member: string, help: string): Flag => ({ kind: "count", name, member, help });
const onOff = (name: string, help: string): Flag => ({ kind: "switch", name, member: name, help });
const choice = (name: string, member: string, help: string, choices: readonly string[]): Flag => ({
  kind: "choice",
  name,
  member,
  help,
  choices,
});

const NAME = text("name", "name", "its name");
const DESCRIPTION = text("description", "description", "what it is for");
const ENABLED = onOff("enabled", "whether it is active");
const OVERLAP = count("overlap", "overlap_seconds", "for so many seconds, the old one works too");
const LIMIT = count("limit", "limit", "at most so many");

const KEYS: Resource = {
  name: "keys",
  one: "key",
  many: "keys",
  path: "/agent/keys",
  entries: "keys",
  members: MEMBERS.ApiKey,
  naming: ["id", "name"],
  ended: "revoked_at",
  columns: ["name", "id", "scopes", "principal_uid", "expires_at", "last_used_at", "revoked_at", "hint"],
  filters: [text("principal", "principal", "those of this person or program, by its uid")],
  create: [
    NAME,
    list("scope", "scopes", "what it allows: runs:read, runs:write, settings:read, settings:write, admin"),
    count("days", "expires_in_days", "it ends after so many days"),
    text("principal", "principal_uid", "its owner, by the uid"),
  ],
  edit: { method: "PATCH", flags: [NAME, text("expires", "expires_at", "when it ends: an ISO 8601 time")] },
  remove: { verb: "Revokes", filters: [onOff("descendants", "also the keys that were made with it")] },
  actions: [{ name: "rotate", help: "Replaces a key by a new one.", path: "rotate", flags: [OVERLAP] }],
  revealed: { member: "key", members: MEMBERS.IssuedApiKey },
};

const SHARED_PERSON = [
  text("name", "display_name", "the name on the pages"),
  text("email", "email", "the e-mail address"),
  onOff("administrator", "whether it manages the team"),
];

const PEOPLE: Resource = {
  name: "people",
  one: "person or program",
  many: "people and programs",
  path: "/agent/principals",
  entries: "principals",
  members: MEMBERS.Principal,
  naming: ["uid", "display_name", "email"],
  columns: ["display_name", "uid", "type", "administrator", "disabled", "email"],
  create: [
    choice("type", "type", "a person or a program", ["user", "service_account"]),
    ...SHARED_PERSON,
    text("team", "team_uid", "for operators: another team, by its uid"),
  ],
  edit: {
    method: "PATCH",
    flags: [...SHARED_PERSON, onOff("disabled", "whether its keys and sign-ins are refused")],
  },
  remove: { verb: "Disables" },
};

const TEAMS: Resource = {
  name: "teams",
  one: "team",
  many: "teams",
  path: "/agent/teams",
  entries: "teams",
  members: MEMBERS.Team,
  naming: ["uid", "name"],
  columns: ["name", "uid", "sharing", "created_at"],
  create: [NAME],
  edit: {
    method: "PATCH",
    flags: [
      NAME,
      choice("sharing", "sharing", "what runs may share with guests", ["off", "viewer", "editor"]),
    ],
  },
};

const ROUTING_FLAGS: readonly Flag[] = [
  NAME,
  count("priority", "priority", "the lowest is evaluated first"),
  ENABLED,
  { kind: "match", name: "match", member: "match", help: "when it applies, for example places=acme/*" },
  { kind: "environment", name: "env", member: "environment_id", help: "an environment: its name or uid" },
];

const ROUTING: Resource = {
  name: "routing",
  one: "routing rule",
  many: "routing rules",
  path: "/agent/routing-rules",
  entries: "routing_rules",
  members: MEMBERS.RoutingRule,
  naming: ["id", "name"],
  columns: ["priority", "name", "id", "enabled", "match", "environment_id"],
  create: ROUTING_FLAGS,
  edit: {
    method: "PUT",
    flags: ROUTING_FLAGS,
    editable: ["name", "priority", "enabled", "match", "environment_id", "config"],
  },
  remove: {},
};

const WEBHOOK_FLAGS: readonly Flag[] = [
  text("to", "url", "the URL of the receiver"),
  DESCRIPTION,
  list("event", "events", "an event that is sent, for example run.failed (repeatable); default: all of runs"),
  ENABLED,
];

const WEBHOOKS: Resource = {
  name: "webhooks",
  one: "webhook",
  many: "webhooks",
  path: "/agent/webhooks",
  entries: "webhooks",
  members: MEMBERS.Webhook,
  naming: ["id", "url"],
  columns: ["id", "url", "enabled", "events", "failing_since", "description"],
  create: WEBHOOK_FLAGS,
  edit: { method: "PATCH", flags: WEBHOOK_FLAGS },
  remove: {},
  actions: [
    {
      name: "rotate-secret",
      help: "Creates a new secret.",
      path: "rotate-secret",
      flags: [OVERLAP],
      members: MEMBERS.RevealedWebhook,
    },
    {
      name: "test",
      help: "Sends a message of the type webhook.test.",
      path: "test",
      members: MEMBERS.WebhookDelivery,
    },
  ],
  revealed: { member: "secret", members: MEMBERS.RevealedWebhook },
};

const QUOTAS: Resource = {
  name: "quotas",
  one: "quota",
  many: "quotas",
  path: "/agent/quotas",
  entries: "quotas",
  members: MEMBERS.Quota,
  naming: ["name"],
  columns: ["name", "limit", "used", "scope"],
  replaceAll: {
    path: (team) => `/agent/teams/${team}/quotas`,
    flag: {
      kind: "quotas",
      name: "limit",
      member: "quotas",
      help: "for example runs_per_day=200 (repeatable); others are removed",
    },
  },
};

/** What only operators and administrators need. */
const ADMIN: readonly Resource[] = [
  {
    name: "inbox",
    one: "event",
    many: "incoming events",
    path: "/agent/inbox",
    entries: "events",
    members: MEMBERS.InboxEvent,
    naming: ["id"],
    columns: ["received_at", "integration", "name", "disposition", "id", "run_id", "reason"],
    filters: [
      LIMIT,
      text("disposition", "disposition", "only those with this result, for example failed"),
      text("run", "run_id", "only those of this run, by its id"),
    ],
    actions: [{ name: "retry", help: "Processes a failed event again.", path: "retry" }],
  },
  {
    name: "notices",
    one: "notice",
    many: "notices",
    path: "/agent/notices",
    entries: "notices",
    members: MEMBERS.Notice,
    naming: ["id"],
    columns: ["created_at", "kind", "state", "attempts", "id", "run_id", "error"],
    filters: [
      LIMIT,
      choice("state", "state", "only those in this state", ["pending", "delivered", "replaced", "dead"]),
      text("run", "run_id", "only those of this run, by its id"),
    ],
    actions: [{ name: "retry", help: "Delivers a notice again that was given up.", path: "retry" }],
  },
  {
    name: "installations",
    one: "installation",
    many: "installations",
    path: "/agent/installations",
    entries: "installations",
    members: MEMBERS.Installation,
    naming: ["id", "name", "external_id"],
    columns: ["adapter", "external_id", "name", "id", "enabled", "team_uid", "problem"],
    edit: {
      method: "PATCH",
      flags: [
        NAME,
        onOff("enabled", "whether its events are accepted"),
        text("team", "team_uid", "the team that owns its runs, by its uid"),
      ],
    },
  },
  {
    name: "workers",
    one: "worker",
    many: "workers",
    path: "/agent/connected-self-hosted-workers",
    entries: "workers",
    members: MEMBERS.WorkerHost,
    naming: ["worker_host"],
    columns: ["worker_host", "connection_count", "connected_at", "last_seen_at"],
  },
  {
    name: "audit",
    one: "audit entry",
    many: "audit entries",
    path: "/agent/audit",
    entries: "entries",
    members: MEMBERS.AuditEntry,
    naming: ["id"],
    columns: ["at", "actor", "action", "target", "request_id"],
    filters: [
      LIMIT,
      text("actor", "actor", "only what this person or program did, by its uid"),
      text("action", "action", "only this action, for example key.created"),
      text("after", "created_after", "only since this time"),
      text("before", "created_before", "only until this time"),
    ],
  },
];

/** Adds the groups for what only the API and the pages could change. */
export function addTeamResources(program: Command): void {
  for (const resource of [PEOPLE, TEAMS, KEYS, ROUTING, QUOTAS]) {
    addResource(program, resource);
  }
  addDeliveryCommands(addResource(program, WEBHOOKS));
}

export function addAdminResources(admin: Command): void {
  for (const resource of ADMIN) {
    addResource(admin, resource);
  }
}
