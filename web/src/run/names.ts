import type { RunItem } from "@errand/client";

const AGENTS: Readonly<Record<string, string>> = {
  claude: "Claude Code",
  codex: "Codex",
  copilot: "Copilot",
  demo: "Demo agent",
  gemini: "Gemini",
  opencode: "OpenCode",
  qwen: "Qwen Code",
};

export function agentName(run: RunItem | undefined): string {
  const name = run?.agent?.name;
  return name === undefined ? "Agent" : (AGENTS[name] ?? name);
}

export function personName(
  person: { readonly display_name?: string; readonly email?: string; readonly type?: string } | undefined,
): string {
  return person?.display_name ?? person?.email ?? (person?.type === "guest" ? "A guest" : "A member");
}

/** The number and the kind of a pull request or issue from its address, such as `#1287`. */
export function numberOf(url: string): string | undefined {
  const number = /\/(?:pull|pulls|issues|merge_requests)\/(\d+)/.exec(url)?.[1];
  return number === undefined ? undefined : `#${number}`;
}

/** Only addresses of the web become links. */
export function safeUrl(url: string | undefined): string | undefined {
  return url !== undefined && /^https?:\/\//i.test(url) ? url : undefined;
}

/** Where a file of the run is read. The address is below that of the run, to which the browser sends the cookie of a share link. */
export function artifactUrl(runId: string, uid: string): string {
  return `/api/v1/agent/runs/${runId}/artifacts/${encodeURIComponent(uid)}/download`;
}

const LAYERS: Readonly<Record<string, string>> = {
  request: "chosen in the request",
  agent: "from the named agent",
  conversation: "from the run that this one continues",
  repository_file: "from the file of the repository",
  routing_rule: "from a routing rule",
  skill: "from the skill",
  default: "the default",
};

/** Why a member of the configuration has its value. */
export function whyOf({ provenance }: RunItem, member: string): string | undefined {
  const layers = provenance?.config_layers;
  const layer =
    typeof layers === "object" && layers !== null ? (layers as Record<string, unknown>)[member] : undefined;
  return typeof layer === "string" ? (LAYERS[layer] ?? layer) : undefined;
}
