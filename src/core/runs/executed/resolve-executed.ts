import { defined } from "../../basics/defined.ts";
import { isTeamOwned } from "../../model/people/ownership.ts";
import type { ExecutedConfig, ExecutedMcpServer } from "../../model/runs/executed-config.ts";
import type { McpServerConfig, Run, RunDefinition } from "../../model/runs/run.ts";
import { type McpServer, mcpServerNamed } from "../../model/secrets/mcp-server.ts";
import type { Secret } from "../../model/secrets/secret.ts";
import { skillId } from "../../model/skills/skill.ts";
import type { Environment } from "../../model/workspaces/environment.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import { findEnvironment, planOf } from "./workspace-plan.ts";

export type ResolveStorage = Pick<Storage, "environments" | "mcpServers" | "secrets">;

/** What the run would execute if it started now. While an attempt executes an approved copy, it is that copy. */
export async function resolveExecuted(
  storage: ResolveStorage,
  run: RunDefinition & Pick<Partial<Run>, "executes" | "lease" | "othersWrote">,
): Promise<ExecutedConfig> {
  if (run.lease !== undefined && run.executes !== undefined) {
    return run.executes;
  }
  const { executes: _former, ...today } = run;
  const { mcp_servers: servers = {} } = run.config;
  const isNamed = Object.values(servers).some(({ warp_id }) => warp_id !== undefined);
  const [environment, known, secrets] = await Promise.all([
    findEnvironment(storage, today),
    isNamed ? storage.mcpServers.list(run.teamId) : [],
    storage.secrets.list(run.teamId),
  ]);
  const { personal, teams } = secretsOf(secrets, today);
  const names = [...teams, ...(run.othersWrote === true ? [] : personal)].map(({ name }) => name);
  return {
    ...ownPart(run),
    ...environmentPart(run, environment),
    mcpServers: Object.fromEntries(
      Object.entries(servers).map(([name, server]) => [name, executedServer(server, known)]),
    ),
    secretNames: [...new Set(names)].sort(),
  };
}

/** The part that is set once with the run. */
function ownPart({ agent, config, skillSnapshot, skillSnapshots = [] }: RunDefinition) {
  const { budget, harness, permission_policy: permissionPolicy = "allow" } = config;
  const modelId = harness?.model_id ?? config.model_id;
  const skills = skillSnapshot === undefined ? skillSnapshots : [skillSnapshot, ...skillSnapshots];
  return defined({
    agent,
    permissionPolicy,
    skills: [...new Set(skills.map((skill) => `${skillId(skill)} at ${skill.commit}`))],
    modelId,
    reasoningLevel: harness?.reasoning_level,
    pullRequest: config.pull_request,
    budget,
    workerHost: config.worker_host,
  });
}

function environmentPart(run: RunDefinition, environment: Environment | undefined) {
  const { image, repositories, setupCommands, sparse } = planOf(run, environment);
  return defined({
    repositories: repositories.map(({ name, owner, ref }) =>
      defined({ repository: `${owner}/${name}`, ref }),
    ),
    sparse,
    setupCommands,
    network: environment?.config.network ?? ("none" as const),
    environmentId: environment?.id,
    image,
  });
}

function executedServer(server: McpServerConfig, known: readonly McpServer[]): ExecutedMcpServer {
  const team = server.warp_id === undefined ? undefined : mcpServerNamed(known, server.warp_id);
  const { args, command, env, headers, url } = team?.config ?? server;
  return defined({
    command,
    args,
    url,
    env: env === undefined ? undefined : Object.keys(env).sort(),
    headers: headers === undefined ? undefined : Object.keys(headers).sort(),
    warpId: team?.id,
  });
}

/**
 * The team's secrets that a run may have, and those of its creator. An approved run gets no other than those that its
 * approver saw.
 */
export function secretsOf(
  all: readonly Secret[],
  run: Pick<Run, "creatorId" | "executes" | "executorId" | "requesterId" | "secretNames">,
): { readonly teams: readonly Secret[]; readonly personal: readonly Secret[] } {
  const { creatorId, executes, executorId, requesterId, secretNames } = run;
  const approved = all.filter(({ name }) => executes === undefined || executes.secretNames.includes(name));
  const isOwn = (executorId ?? requesterId ?? secretNames) === undefined;
  return {
    teams: approved.filter(
      (secret) => isTeamOwned(secret) && (secretNames === undefined || secretNames.includes(secret.name)),
    ),
    personal: approved.filter(({ ownerId }) => isOwn && ownerId === creatorId),
  };
}
