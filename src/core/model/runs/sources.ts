/**
 * Where a run came from. The list is closed because strict clients refuse other values. It also has platforms without an
 * adapter. In the core, only the lists in this file and the sign-in methods name platforms.
 */
export const RUN_SOURCES = [
  "API",
  "SLACK",
  "LINEAR",
  "LOCAL",
  "SCHEDULED_AGENT",
  "WEB_APP",
  "GITHUB_ACTION",
  "CLOUD_MODE",
  "CLI",
  "JIRA",
  "GITHUB_WEBHOOK",
  "GITLAB_WEBHOOK",
] as const;
export type RunSource = (typeof RUN_SOURCES)[number];

/** Sources of messages from other platforms. Their adapters prove what the author is there. */
export const INTEGRATION_SOURCES = [
  "SLACK",
  "LINEAR",
  "JIRA",
  "GITHUB_WEBHOOK",
  "GITLAB_WEBHOOK",
] as const satisfies readonly RunSource[];

/** Sources of conversations in which many people write, so that being a member there does not mean to steer every run. */
export const CHAT_SOURCES = ["SLACK"] as const satisfies readonly RunSource[];

/** Sources of threads of repositories, in which everyone who may read the repository can write. */
export const REPOSITORY_SOURCES = [
  "GITHUB_WEBHOOK",
  "GITLAB_WEBHOOK",
] as const satisfies readonly RunSource[];

/** Sources that callers of the API may claim. Nobody can prove them. */
export const CLAIMED_SOURCES: ReadonlySet<RunSource> = new Set(["CLI", "GITHUB_ACTION", "LOCAL"] as const);

/** Sources of requests whose author waits for the answer: conversations, and the pages. */
export const PERSON_WAITS_SOURCES: ReadonlySet<RunSource> = new Set([...INTEGRATION_SOURCES, "WEB_APP"]);

export const SCHEDULE_SOURCE = "SCHEDULED_AGENT" satisfies RunSource;
