import type { NetworkAccess } from "../workspaces/environment.ts";

/**
 * What a run executes besides the words of its request, as it was when an approval was asked for. The attempts of an
 * approved run execute this copy, so that a later change of the environment or of an MCP server does not reach them.
 */
export interface ExecutedConfig {
  readonly agent: string;
  readonly modelId?: string;
  readonly reasoningLevel?: string;
  readonly permissionPolicy: "allow" | "ask";
  readonly repositories: readonly { readonly repository: string; readonly ref?: string }[];
  /** The folders of the repositories that are checked out. Absent: all. */
  readonly sparse?: readonly string[];
  readonly pullRequest?: string;
  readonly environmentId?: string;
  readonly image?: string;
  readonly setupCommands: readonly string[];
  readonly network: NetworkAccess;
  readonly mcpServers: Readonly<Record<string, ExecutedMcpServer>>;
  readonly secretNames: readonly string[];
  /** `owner/repo:path` and the commit that was read. Their instructions are among the words. */
  readonly skills: readonly string[];
  readonly budget?: Readonly<Record<string, unknown>>;
  readonly workerHost?: string;
}

/** A program or an address, with the names of the values that it gets. */
export interface ExecutedMcpServer {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly url?: string;
  readonly env?: readonly string[];
  readonly headers?: readonly string[];
  /** The uid of the team's server. */
  readonly warpId?: string;
}

/** A part of what an approver reads: `Setup commands`, and one value for each. */
export interface ExecutedDetail {
  readonly label: string;
  readonly values: readonly string[];
}

interface Described {
  readonly label: string;
  /** Different configurations have different values, because the hash covers these values. */
  readonly values: (config: ExecutedConfig) => readonly string[];
  /** One and several, where only their number is shown. */
  readonly counted?: readonly [one: string, several: string];
  /** Threads that outsiders read show it as well. */
  readonly isPublic?: true;
}

/** The one list of what an approval covers: hash, card, page, API and command line follow it. */
export const EXECUTED: { readonly [Member in keyof Required<ExecutedConfig>]: Described } = {
  agent: { label: "Agent", values: ({ agent }) => [agent], isPublic: true },
  repositories: {
    label: "Repositories",
    values: ({ repositories }) =>
      repositories.map(({ ref, repository }) =>
        ref === undefined ? repository : `${repository} at ${word(ref)}`,
      ),
    isPublic: true,
  },
  sparse: { label: "Folders", values: ({ sparse = [] }) => sparse, counted: ["folder", "folders"] },
  modelId: { label: "Model", values: ({ modelId }) => optional(modelId) },
  reasoningLevel: { label: "Reasoning level", values: ({ reasoningLevel }) => optional(reasoningLevel) },
  permissionPolicy: {
    label: "Permissions",
    values: ({ permissionPolicy }) => [
      permissionPolicy === "ask" ? "the agent asks before it acts" : "the agent does not ask",
    ],
  },
  pullRequest: { label: "Pull request", values: ({ pullRequest }) => optional(pullRequest) },
  environmentId: { label: "Environment", values: ({ environmentId }) => optional(environmentId) },
  image: { label: "Image", values: ({ image }) => optional(image) },
  setupCommands: {
    label: "Setup commands",
    values: ({ setupCommands }) => setupCommands,
    counted: ["setup command", "setup commands"],
  },
  network: { label: "Network", values: ({ network }) => [network] },
  mcpServers: {
    label: "MCP servers",
    values: ({ mcpServers }) => Object.entries(mcpServers).map(serverLine),
    counted: ["MCP server", "MCP servers"],
  },
  secretNames: {
    label: "Secrets",
    values: ({ secretNames }) => secretNames,
    counted: ["secret", "secrets"],
  },
  skills: { label: "Skills", values: ({ skills }) => skills, counted: ["skill", "skills"] },
  budget: {
    label: "Budget",
    values: ({ budget = {} }) => Object.entries(budget).map(([name, limit]) => `${name} ${String(limit)}`),
  },
  workerHost: { label: "Worker", values: ({ workerHost }) => optional(workerHost) },
};
const DESCRIBED: readonly Described[] = Object.values(EXECUTED);

/** What an approver must know that no hash can cover. */
export const NOT_COVERED = [
  "what stands in the repositories, unless their ref is a commit: setup scripts, instructions for agents",
  "what the tag of the image points to",
  "the values of secrets, variables and headers",
] as const;

export function detailsOf(config: ExecutedConfig): readonly ExecutedDetail[] {
  return DESCRIBED.map(({ label, values }) => ({ label, values: values(config) })).filter(
    ({ values }) => values.length > 0,
  );
}

/** For a thread that people outside of the team can read: agent and repositories, and how many there are of the rest. */
export function publicDetailsOf(config: ExecutedConfig): readonly ExecutedDetail[] {
  const shown = DESCRIBED.filter(({ isPublic }) => isPublic === true);
  const numbers = DESCRIBED.flatMap(({ counted, values }) => {
    const { length } = values(config);
    return counted === undefined || length === 0 ? [] : [`${length} ${counted[length === 1 ? 0 : 1]}`];
  });
  return [
    ...shown.map(({ label, values }) => ({ label, values: values(config) })),
    { label: "Also", values: numbers },
  ].filter(({ values }) => values.length > 0);
}

function optional(value: string | undefined): readonly string[] {
  return value === undefined ? [] : [value];
}

function serverLine([name, { args = [], command, env = [], headers = [], url, warpId }]: [
  string,
  ExecutedMcpServer,
]): string {
  const runs = command === undefined ? [url ?? ""] : [command, ...args].map(word);
  return [
    `${name}: ${runs.join(" ")}`,
    ...(env.length === 0 ? [] : [`variables ${env.join(" ")}`]),
    ...(headers.length === 0 ? [] : [`headers ${headers.join(" ")}`]),
    ...(warpId === undefined ? [] : [`the team's server ${warpId}`]),
  ].join(", ");
}

/** A word with other characters is quoted, so that two lists of words never read the same. */
function word(text: string): string {
  return /^[\w@%+=:./-]+$/.test(text) ? text : JSON.stringify(text);
}

/** Whether an attempt that began with one copy may execute the other. */
export function isSameCopy(one: ExecutedConfig | undefined, other: ExecutedConfig | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
