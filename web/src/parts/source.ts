import type { RunSourceType } from "@errand/client";
import type { IconName } from "./icon.tsx";

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

/** The sources that people choose from. */
export const OFFERED_SOURCES: readonly RunSourceType[] = [
  "API",
  "SLACK",
  "GITHUB_WEBHOOK",
  "SCHEDULED_AGENT",
  "WEB_APP",
  "CLI",
  "GITHUB_ACTION",
];

/** How people read where a run was started. */
export function sourceOf(source: RunSourceType): Source {
  return SOURCES[source] ?? { name: "API", icon: "code" };
}

const PLATFORMS: Readonly<Record<string, string>> = { slack: "Slack", github: "GitHub" };

/** How people read the name of an adapter. */
export function platformName(adapter: string): string {
  return PLATFORMS[adapter] ?? adapter;
}
