import { randomUUID } from "node:crypto";
import type { PrincipalId } from "../../src/core/basics/ids.ts";
import type { RoutingRule } from "../../src/core/model/defaults/request-defaults.ts";
import { FIRST_TEAM } from "../../src/core/model/people/team.ts";
import type { Policy } from "../../src/core/model/policies/policy.ts";
import type { Rule } from "../../src/core/model/policies/rule.ts";
import type { Schedule } from "../../src/core/model/schedules/schedule.ts";

/** Rules and schedules with defaults. A test names only the members that it is about. */
function aRule(): Rule {
  const id = randomUUID();
  const at = new Date("2026-03-01T12:00:00.000Z");
  const whose = { teamId: FIRST_TEAM, creatorId: randomUUID() as PrincipalId };
  return { id, ...whose, name: id, priority: 100, enabled: true, createdAt: at, updatedAt: at };
}

export function aPolicy(changes: Partial<Policy> = {}): Policy {
  return { ...aRule(), effect: "deny", match: {}, ...changes };
}

export function aRoutingRule(changes: Partial<RoutingRule> = {}): RoutingRule {
  return { ...aRule(), match: {}, config: {}, ...changes };
}

export function aSchedule(changes: Partial<Schedule> = {}): Schedule {
  const { priority: _priority, ...whose } = aRule();
  const creatorId = changes.creatorId ?? whose.creatorId;
  return {
    ...whose,
    name: "Nightly",
    cron: "*/5 * * * *",
    prompt: "Tidy up",
    config: {},
    metadata: {},
    teamOwned: true,
    creatorId,
    lastEditorId: creatorId,
    ...changes,
  };
}

/** Configs with which no run may be created, with the status and the path of the issue. */
export const REFUSED_CONFIGS: readonly [what: string, config: object, status: number, path: string][] = [
  ["an unknown agent", { harness: { type: "nobody" } }, 400, "harness.type"],
  ["a server of no command", { mcp_servers: { a: { command: " " } } }, 400, "mcp_servers.a"],
  ["a server of two kinds", { mcp_servers: { a: { warp_id: "w", url: "https://x" } } }, 400, "mcp_servers.a"],
];
