import type { RunItem, RunSourceType } from "@errand/client";
import type { IconName } from "../parts/icon.tsx";

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

interface Source {
  readonly name: string;
  readonly icon: IconName;
}

const SOURCES: Readonly<Partial<Record<RunSourceType, Source>>> = {
  SLACK: { name: "Slack", icon: "hash" },
  GITHUB_WEBHOOK: { name: "GitHub", icon: "branch" },
  GITHUB_ACTION: { name: "GitHub Actions", icon: "branch" },
  GITLAB_WEBHOOK: { name: "GitLab", icon: "branch" },
  LINEAR: { name: "Linear", icon: "link" },
  JIRA: { name: "Jira", icon: "link" },
  SCHEDULED_AGENT: { name: "Schedule", icon: "clock" },
  WEB_APP: { name: "Web", icon: "window" },
  CLI: { name: "Command line", icon: "terminal" },
  LOCAL: { name: "Command line", icon: "terminal" },
};

export function sourceOf(source: RunSourceType): Source {
  return SOURCES[source] ?? { name: "API", icon: "code" };
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
