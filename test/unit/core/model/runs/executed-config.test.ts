import { describe, expect, test } from "vitest";
import { EnvironmentConfigSchema } from "../../../../../src/api/schemas/environment.ts";
import { AmbientAgentConfig, Harness, McpServerConfig } from "../../../../../src/api/schemas/run-config.ts";
import { sha256 } from "../../../../../src/app/system.ts";
import {
  detailsOf,
  EXECUTED,
  type ExecutedConfig,
  publicDetailsOf,
} from "../../../../../src/core/model/runs/executed-config.ts";
import { hashed } from "../../../../../src/core/runs/approval.ts";

const CONFIG: ExecutedConfig = {
  agent: "codex",
  permissionPolicy: "allow",
  repositories: [{ repository: "acme/api" }],
  setupCommands: ["npm ci"],
  network: "none",
  mcpServers: {},
  secretNames: [],
  skills: [],
};

/** By member, a change of it. Every one of them must be seen. */
const CHANGES: { readonly [Member in keyof Required<ExecutedConfig>]: readonly Partial<ExecutedConfig>[] } = {
  agent: [{ agent: "claude" }],
  modelId: [{ modelId: "large" }],
  reasoningLevel: [{ reasoningLevel: "high" }],
  permissionPolicy: [{ permissionPolicy: "ask" }],
  repositories: [
    { repositories: [{ repository: "acme/web" }] },
    { repositories: [{ repository: "acme/api", ref: "main" }] },
    { repositories: [...CONFIG.repositories, { repository: "acme/web" }] },
  ],
  sparse: [{ sparse: ["services/api"] }, { sparse: ["services"] }],
  pullRequest: [{ pullRequest: "ready" }],
  environmentId: [{ environmentId: "e1" }],
  image: [{ image: "node:24" }],
  setupCommands: [{ setupCommands: ["npm ci", "curl x | sh"] }, { setupCommands: ["npm  ci"] }],
  network: [{ network: "internet" }],
  mcpServers: [
    { mcpServers: { wiki: { command: "npx" } } },
    { mcpServers: { wiki: { command: "npx", args: ["a b"] } } },
    { mcpServers: { wiki: { command: "npx", args: ["a", "b"] } } },
    { mcpServers: { wiki: { url: "https://a.example" } } },
    { mcpServers: { wiki: { command: "npx", env: ["A"] } } },
    { mcpServers: { wiki: { url: "https://a.example", headers: ["A"] } } },
    { mcpServers: { wiki: { command: "npx", warpId: "w1" } } },
  ],
  secretNames: [{ secretNames: ["TOKEN"] }],
  skills: [{ skills: ["acme/api:deploy at 1f2e"] }],
  budget: [{ budget: { max_turns: 3 } }, { budget: { max_turns: 4 } }],
  workerHost: [{ workerHost: "gpu" }],
};

const ALL = Object.entries(CHANGES).flatMap(([member, changes]) =>
  changes.map((change) => [member, change] as const),
);

test.each(ALL)("a change of %s changes the hash and what is shown: %j", (_member, change) => {
  const changed = { ...CONFIG, ...change };

  expect(hashOf(changed)).not.toBe(hashOf(CONFIG));
  expect(detailsOf(changed)).not.toEqual(detailsOf(CONFIG));
});

test("no two of these configurations have the same hash", () => {
  const hashes = ALL.map(([, change]) => hashOf({ ...CONFIG, ...change }));

  expect(new Set(hashes).size).toBe(hashes.length);
});

test("an approval of an earlier version has the hash of its words alone", () => {
  const inputs = [{ text: "Deploy", attachments: [] }];

  expect(hashed(inputs, sha256, undefined).inputsHash).toBe(sha256('[[null,"Deploy",[]]]'));
});

/** Each member of a configuration: the member that covers it, or why it is not executed. */
const COVERED: Readonly<Record<string, Readonly<Record<string, keyof ExecutedConfig | `not: ${string}`>>>> = {
  config: {
    base_prompt: "not: among the words",
    budget: "budget",
    computer_use_enabled: "not: without effect",
    computer_use_model_id: "not: without effect",
    environment_id: "environmentId",
    harness: "agent",
    idle_timeout_minutes: "not: only how long the agent waits",
    mcp_servers: "mcpServers",
    model_id: "modelId",
    name: "not: a label",
    output_schema: "not: among the words",
    permission_policy: "permissionPolicy",
    priority: "not: only when the run starts",
    pull_request: "pullRequest",
    ref: "repositories",
    repository: "repositories",
    repository_guessed: "not: only whether the run fails without the repository",
    secrets: "secretNames",
    session_sharing: "not: who reads the run",
    skill_spec: "skills",
    skills: "skills",
    worker_host: "workerHost",
  },
  harness: { type: "agent", model_id: "modelId", reasoning_level: "reasoningLevel" },
  mcpServer: {
    command: "mcpServers",
    args: "mcpServers",
    env: "mcpServers",
    url: "mcpServers",
    headers: "mcpServers",
    warp_id: "mcpServers",
  },
  environment: {
    name: "not: a label",
    description: "not: a label",
    docker_image: "image",
    github_repos: "repositories",
    setup_commands: "setupCommands",
    sparse: "sparse",
    network: "network",
    pull_request: "pullRequest",
    secrets: "secretNames",
    failure_session_retention_minutes: "not: only how long a failed run waits",
  },
};

test.each([
  ["config", AmbientAgentConfig.shape],
  ["harness", Harness.shape],
  ["mcpServer", McpServerConfig.shape],
  ["environment", EnvironmentConfigSchema.shape],
])(
  "every member of the schema of %s is covered by an approval, or an exception says why not",
  (kind, shape) => {
    const missing = Object.keys(shape).filter((member) => COVERED[kind]?.[member] === undefined);

    expect(missing).toEqual([]);
  },
);

test("what covers a member is in the list", () => {
  const covering = Object.values(COVERED)
    .flatMap((members) => Object.values(members))
    .filter((member) => !member.startsWith("not: "));

  expect(covering.filter((member) => !Object.hasOwn(EXECUTED, member))).toEqual([]);
});

describe("where people outside of the team read", () => {
  test("agent and repositories are shown, and the rest is counted", () => {
    const config: ExecutedConfig = {
      ...CONFIG,
      image: "registry.internal/node",
      setupCommands: ["a-secret-command", "b", "c"],
      mcpServers: { wiki: { url: "https://wiki.internal" } },
      secretNames: ["DEPLOY_KEY", "TOKEN"],
      budget: { max_cost_usd: 7 },
    };

    expect(publicDetailsOf(config)).toEqual([
      { label: "Agent", values: ["codex"] },
      { label: "Repositories", values: ["acme/api"] },
      { label: "Also", values: ["3 setup commands", "1 MCP server", "2 secrets"] },
    ]);
  });
});

function hashOf(config: ExecutedConfig): string {
  return hashed([{ text: "Deploy", attachments: [] }], sha256, config).inputsHash;
}
