/** What Errand does with changes that the agent did not push. */
export const PULL_REQUEST_SETTINGS = ["off", "draft", "ready"] as const;
export type PullRequestSetting = (typeof PULL_REQUEST_SETTINGS)[number];
