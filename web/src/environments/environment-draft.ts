import type { EnvironmentConfig } from "@errand/client";
import type { Issue } from "../edit/issues.ts";

/** An environment as the user edits it. Lists have one entry on each line. */
export interface EnvironmentDraft {
  readonly name: string;
  readonly description: string;
  readonly repositories: string;
  /** The only folders of the repositories that are checked out. Empty: all. */
  readonly folders: string;
  readonly image: string;
  readonly commands: string;
  readonly secrets: string;
  readonly hasInternet: boolean;
  /** What becomes of changes. Empty: the default. */
  readonly pullRequest: string;
}

/** What an environment can do with changes. */
export const PULL_REQUEST_OPTIONS = [
  { value: "", name: "As the request or the default says" },
  { value: "off", name: "No pull request" },
  { value: "draft", name: "Draft pull request" },
  { value: "ready", name: "Pull request" },
] as const;

export function environmentDraftOf(config: EnvironmentConfig | undefined): EnvironmentDraft {
  return {
    name: config?.name ?? "",
    description: config?.description ?? "",
    repositories: (config?.github_repos ?? []).map(({ owner, repo }) => `${owner}/${repo}`).join("\n"),
    folders: (config?.sparse ?? []).join("\n"),
    image: config?.docker_image ?? "",
    commands: (config?.setup_commands ?? []).join("\n"),
    secrets: (config?.secrets ?? []).map(({ name }) => name).join("\n"),
    hasInternet: config?.network === "internet",
    pullRequest: config?.pull_request ?? "",
  };
}

const OWNER_AND_NAME = /^[\w.-]+\/[\w.-]+$/;

export function environmentIssuesOf({ name, repositories }: EnvironmentDraft): readonly Issue[] {
  const wrong = linesOf(repositories).find((line) => !OWNER_AND_NAME.test(line));
  return [
    ...(name.trim() === "" ? [{ path: "config.name", message: "Write a name" }] : []),
    ...(wrong === undefined
      ? []
      : [{ path: "config.github_repos", message: `“${wrong}” is not an owner and a name, like acme/web` }]),
  ];
}

/** The configuration of the request. Commands of several lines stay as they are if no command is changed. */
export function environmentConfigOf(
  draft: EnvironmentDraft,
  before: EnvironmentConfig | undefined,
): EnvironmentConfig {
  const { commands, description, folders, hasInternet, image, name, pullRequest, repositories, secrets } =
    draft;
  const setting = PULL_REQUEST_OPTIONS.map(({ value }) => value).find((value) => value === pullRequest);
  const hasSameCommands = commands === environmentDraftOf(before).commands;
  const { failure_session_retention_minutes: debugMinutes } = before ?? {};
  return {
    name: name.trim(),
    ...(description.trim() === "" ? {} : { description: description.trim() }),
    ...(image.trim() === "" ? {} : { docker_image: image.trim() }),
    github_repos: linesOf(repositories).map((line) => {
      const [owner = "", repo = ""] = line.split("/");
      return { owner, repo };
    }),
    ...(folders.trim() === "" ? {} : { sparse: linesOf(folders) }),
    setup_commands: hasSameCommands ? (before?.setup_commands ?? []) : linesOf(commands),
    network: hasInternet ? "internet" : "none",
    ...(setting === undefined || setting === "" ? {} : { pull_request: setting }),
    ...(secrets.trim() === "" ? {} : { secrets: linesOf(secrets).map((line) => ({ name: line })) }),
    ...(debugMinutes === undefined ? {} : { failure_session_retention_minutes: debugMinutes }),
  };
}

function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
