import type { Clock } from "../../basics/clock.ts";
import type { Digest, SecretBox } from "../../basics/crypto.ts";
import type { RequestOrigin } from "../../model/policies/request-origin.ts";
import { requireMcpServers } from "../../model/secrets/mcp-server.ts";
import { withSealedValues } from "../../model/secrets/sealed-values.ts";
import type { Environment } from "../../model/workspaces/environment.ts";
import type { BlobStore } from "../../ports/blob-store.ts";
import type { PullRequests } from "../../ports/pull-requests.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import type { RunRules } from "../../team/policies/run-rules.ts";
import { requireEnvironment } from "../../team/records/environment-service.ts";
import { routeRequest } from "../routing/route-request.ts";
import { type SkillFinder, withSkills } from "../skills/skill-finder.ts";
import { withChangeSettings } from "./change-settings.ts";
import { findExecutingAgent } from "./find-executing-agent.ts";
import type { AgentChoice, NewRun } from "./new-run.ts";
import { requireTeamMcpServers } from "./requirements.ts";
import { withSecretList } from "./secret-list.ts";

export interface RunPreparerDeps extends Pick<RunRules, "policies" | "routing"> {
  readonly storage: Pick<
    Storage,
    "environments" | "mcpServers" | "namedAgents" | "people" | "secrets" | "teams" | "workers"
  >;
  readonly clock: Clock;
  readonly agents: AgentChoice;
  readonly skills: Pick<SkillFinder, "find">;
  readonly secretBox: Pick<SecretBox, "seal">;
  readonly pullRequests: Pick<PullRequests, "isAllowed">;
  readonly blobs: Pick<BlobStore, "sha256">;
  readonly digest: Digest;
}

/** A request on its way to a run. */
export interface Draft {
  readonly request: NewRun;
  readonly from: RequestOrigin;
  /** That of the configuration, once it was found. */
  readonly environment?: Environment;
}

/** Adds what one feature gives to a request, or refuses the request. */
export interface RequestStep {
  readonly name: string;
  /** Whether the request uses the feature. It is decided here, so that a request passes only the files of what it uses. */
  applies(draft: Draft): boolean;
  apply(draft: Draft, deps: RunPreparerDeps): Promise<Draft>;
}

/** In this order. After them the configuration has the values of the agent, the conversation, the rule and the defaults. */
export const ROUTING_STEPS: readonly RequestStep[] = [
  {
    name: "seal values",
    applies: ({ request: { config, hasStoredConfig } }) =>
      hasStoredConfig !== true && config?.mcp_servers !== undefined,
    apply: async (draft, { secretBox }) => {
      const { request } = draft;
      const { config = {}, creator } = request;
      requireMcpServers(config, "config");
      // Those of stored configurations, which are added below, are sealed already.
      const sealed = withSealedValues(secretBox, creator.teamId, config);
      return { ...draft, request: { ...request, config: sealed, hasStoredConfig: true } };
    },
  },
  {
    name: "named agent",
    applies: ({ request: { agentUid, creator, namedAgent, requester = creator } }) =>
      namedAgent === undefined && (agentUid !== undefined || requester.type === "service_account"),
    apply: async (draft, { storage }) => {
      const { agentUid, creator, requester = creator } = draft.request;
      const namedAgent = await findExecutingAgent(storage, requester, agentUid);
      return namedAgent === undefined ? draft : { ...draft, request: { ...draft.request, namedAgent } };
    },
  },
  {
    name: "conversation, routing rule and defaults",
    applies: ({ request: { isRouted } }) => isRouted !== true,
    apply: async (draft, { routing }) => ({
      ...draft,
      request: routeRequest(draft.request, draft.from, await routing.of(draft.request.creator.teamId)),
    }),
  },
];

/** In this order, after the routing. */
export const CONFIG_STEPS: readonly RequestStep[] = [
  {
    name: "environment",
    applies: ({ request: { config } }) => config?.environment_id !== undefined,
    apply: async (draft, { storage }) => {
      const { request } = draft;
      const { config: { environment_id: id = "" } = {}, creator } = request;
      const environment = await requireEnvironment(storage.environments, creator, id);
      const { name, repositories } = environment.config;
      // For people who read about the run when the environment has been changed.
      const names = repositories.map((repository) => `${repository.owner}/${repository.name}`);
      const provenance = { ...request.provenance, environment: { name, repositories: names } };
      return { ...draft, environment, request: { ...request, provenance } };
    },
  },
  {
    // Before the steps that read repositories, because a list without the git token limits what they can read.
    name: "secrets",
    applies: ({ environment, request: { config, namedAgent } }) =>
      [config?.secrets, environment?.config.secretNames].some((member) => member !== undefined) ||
      (namedAgent?.secretNames ?? []).length > 0,
    apply: async (draft) => ({ ...draft, request: withSecretList(draft) }),
  },
  {
    name: "repository and its changes",
    applies: ({ environment, request: { changesDefault, config = {} } }) =>
      [
        config.repository,
        config.ref,
        config.pull_request,
        environment?.config.pullRequest,
        changesDefault,
      ].some((member) => member !== undefined),
    apply: async (draft, { pullRequests }) => ({
      ...draft,
      request: await withChangeSettings(draft, pullRequests),
    }),
  },
  {
    name: "MCP servers",
    applies: ({ request: { config } }) => config?.mcp_servers !== undefined,
    apply: async (draft, { storage }) => {
      const { config = {}, creator } = draft.request;
      requireMcpServers(config, "config");
      await requireTeamMcpServers(storage.mcpServers, creator.teamId, config);
      return draft;
    },
  },
  {
    // They are read before anything is stored, because it may take a while and without them there is no run.
    name: "skills",
    applies: ({ request: { config, skill, skills } }) =>
      [config?.skills, config?.skill_spec, skill, skills].some((member) => member !== undefined),
    apply: async (draft, { skills }) => ({ ...draft, request: await withSkills(skills, draft.request) }),
  },
];

/** Takes the draft through the steps that apply to it. */
export async function takeSteps(
  draft: Draft,
  steps: readonly RequestStep[],
  deps: RunPreparerDeps,
): Promise<Draft> {
  let current = draft;
  for (const step of steps) {
    if (step.applies(current)) {
      current = await step.apply(current, deps);
    }
  }
  return current;
}
