import type {
  AgentSkill,
  AuditEntry,
  Environment,
  McpServer,
  NamedAgent,
  Principal,
  RunCreatorInfo,
  ScheduledAgentItem,
  Secret,
  UsageRow,
} from "@errand/client";
import { useQuery } from "@tanstack/react-query";
import { count, duration, money, rough } from "../parts/format.ts";
import { Ago } from "../parts/time.tsx";
import { client } from "../server/client.ts";
import { whoamiQuery } from "../server/queries.ts";
import { useMay } from "../server/rights.ts";
import { type Column, ListTable, Named } from "./list-table.tsx";
import { useNames } from "./names.ts";

export function Environments() {
  const may = useMay("settings:write");
  const columns: readonly Column<Environment>[] = [
    [
      "Name",
      ({ config: { description, name }, uid }) => (
        <Named name={name} text={description} {...(may ? { to: `/environments/${uid}` } : {})} />
      ),
    ],
    [
      "Repositories",
      ({ config }) => config.github_repos?.map(({ owner, repo }) => `${owner}/${repo}`).join(", "),
    ],
    ["Image", ({ config }) => config.docker_image],
    ["Network", ({ config }) => (config.network === "internet" ? "public addresses" : "closed")],
    ["Setup", ({ setup_failed: failed }) => (failed ? <span className="state fail">Failed</span> : "")],
    ["Changed", ({ last_updated: at }) => <Ago time={at} />],
  ];
  return (
    <ListTable
      what="environments"
      read={async (signal) => (await client.environments.list({ sort_by: "name" }, { signal })).environments}
      keyOf={({ uid }) => uid}
      columns={columns}
      none="There is no environment yet. Runs work in an empty folder, or in the repository that a request names."
    />
  );
}

export function Schedules() {
  const { data: whoami } = useQuery(whoamiQuery);
  const may = useMay("runs:write") === true;
  const isOwn = (creator: RunCreatorInfo | undefined) => creator?.uid === whoami?.principal.uid;
  const columns: readonly Column<ScheduledAgentItem>[] = [
    [
      "Name",
      ({ created_by: creator, id, name, prompt }) => (
        <Named
          name={name}
          text={prompt.slice(0, 120)}
          {...(may && (whoami?.is_administrator || isOwn(creator)) ? { to: `/schedules/${id}` } : {})}
        />
      ),
    ],
    ["When, in UTC", ({ cron_schedule: cron }) => <code>{cron}</code>],
    ["State", ({ enabled, last_spawn_error: error }) => error ?? (enabled ? "Active" : "Paused")],
    ["Last run", ({ history }) => history?.last_ran && <Ago time={history.last_ran} />],
    ["Next run", ({ history }) => history?.next_run && new Date(history.next_run).toLocaleString()],
  ];
  return (
    <ListTable
      what="schedules"
      read={async (signal) => (await client.schedules.list({ signal })).schedules}
      keyOf={({ id }) => id}
      columns={columns}
      none="There is no schedule yet. A schedule starts a run at fixed times, for example every night."
    />
  );
}

type SkillVariant = AgentSkill["variants"][number] & { readonly name: string };

const SKILLS: readonly Column<SkillVariant>[] = [
  ["Name", ({ name, description }) => <Named name={name} text={description} />],
  ["Repository", ({ source }) => `${source.owner}/${source.name}`],
  ["File", ({ source }) => <code>{source.skill_path}</code>],
];

export function Skills() {
  return (
    <ListTable
      what="skills"
      read={async (signal) => {
        const { agents } = await client.skills.list({}, { signal });
        return agents.flatMap(({ name, variants }) => variants.map((variant) => ({ ...variant, name })));
      }}
      keyOf={({ id }) => id}
      columns={SKILLS}
      none="No repository of an environment has a skill."
    />
  );
}

const SECRETS: readonly Column<Secret>[] = [
  ["Name", ({ name }) => <code>{name}</code>],
  ["For", ({ scope }) => (scope.type === "Team" ? "all runs of the team" : "runs that you start")],
  ["Set", ({ updated_at: at }) => <Ago time={at} />],
];

export function Secrets() {
  return (
    <ListTable
      what="secrets"
      read={async (signal) => (await client.secrets.list({ signal })).secrets}
      keyOf={({ name, scope }) => `${scope.type} ${name}`}
      columns={SECRETS}
      none="There is no secret yet."
    />
  );
}

const MCP_SERVERS: readonly Column<McpServer>[] = [
  ["Name", ({ name, description }) => <Named name={name} text={description} />],
  [
    "Program or address",
    ({ config }) => <code>{String(config.url ?? config.command ?? config.warp_id)}</code>,
  ],
  ["Changed", ({ updated_at: at }) => <Ago time={at} />],
];

export function McpServers() {
  return (
    <ListTable
      what="MCP servers"
      read={async (signal) => (await client.mcpServers.list({ signal })).mcp_servers}
      keyOf={({ uid }) => uid}
      columns={MCP_SERVERS}
      none="The team shares no MCP server yet."
    />
  );
}

const AGENTS: readonly Column<NamedAgent>[] = [
  ["Name", ({ name, description }) => <Named name={name} text={description} />],
  ["Agent", ({ harness }) => harness?.type ?? "server default"],
  ["Model", ({ base_model: model }) => model ?? "default of the agent"],
  ["State", ({ available }) => (available ? "Can work" : "Cannot work on this server")],
];

export function Agents() {
  return (
    <ListTable
      what="agents"
      read={async (signal) => (await client.agents.list({ signal })).agents}
      keyOf={({ uid }) => uid}
      columns={AGENTS}
      none="There is no named agent yet. Runs use the agents that System lists."
    />
  );
}

const PEOPLE: readonly Column<Principal>[] = [
  ["Name", ({ display_name: name, uid }) => <Named name={name ?? uid} />],
  ["Email", ({ email }) => email],
  ["Kind", ({ type }) => (type === "user" ? "Person" : "Program")],
  [
    "Role",
    ({ administrator, disabled }) => (disabled ? "Disabled" : administrator ? "Administrator" : "Member"),
  ],
  ["Since", ({ created_at: at }) => <Ago time={at} />],
];

export function People() {
  return (
    <ListTable
      what="people"
      read={async (signal) => (await client.principals.list({ signal })).principals}
      keyOf={({ uid }) => uid}
      columns={PEOPLE}
      none="There is nobody."
    />
  );
}

const USAGE: readonly Column<UsageRow>[] = [
  ["Day, in UTC", ({ day }) => day],
  ["Runs", ({ runs }) => count(runs)],
  ["Done", ({ succeeded }) => count(succeeded)],
  ["Failed", ({ failed }) => count(failed)],
  ["Median time", ({ median_seconds_to_result: s }) => (s === undefined ? "" : duration(s))],
  ["Tokens", ({ total_tokens: tokens }) => rough(tokens)],
  ["Cost", ({ inference_cost_usd: cost }) => (cost === 0 ? "" : money(cost))],
];

export function Usage() {
  return (
    <ListTable
      what="usage"
      read={async (signal) => (await client.usage.retrieve({}, { signal })).usage.toReversed()}
      keyOf={({ day = "" }) => day}
      columns={USAGE}
      none="There was no run in the last 30 days."
    />
  );
}

export function Audit() {
  const names = useNames();
  const entries: readonly Column<AuditEntry>[] = [
    ["When", ({ at }) => <Ago time={at} />],
    ["Who", ({ actor }) => names.get(actor.uid) ?? `${actor.type.replace("_", " ")} ${actor.uid}`],
    ["What", ({ action }) => <code>{action}</code>],
    ["Object", (entry) => `${entry.target.type.replaceAll("_", " ")} ${targetName(entry, names)}`],
  ];
  return (
    <ListTable
      what="the audit log"
      read={async (signal) => (await client.audit.list({ limit: 100 }, { signal })).entries}
      keyOf={({ id }) => id}
      columns={entries}
      none="Nothing was changed yet."
    />
  );
}

/** The name of what was changed, if it has one and it is known. */
function targetName({ after, before, target }: AuditEntry, names: ReadonlyMap<string, string>): string {
  const name = after?.name ?? before?.name;
  return names.get(target.id) ?? (typeof name === "string" ? name : target.id);
}
