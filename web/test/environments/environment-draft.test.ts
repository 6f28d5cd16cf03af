import type { EnvironmentConfig } from "@errand/client";
import { describe, expect, test } from "vitest";
import {
  environmentConfigOf,
  environmentDraftOf,
  environmentIssuesOf,
} from "../../src/environments/environment-draft.ts";

describe("the draft of an environment", () => {
  const config: EnvironmentConfig = {
    name: "Web",
    description: "The shop",
    docker_image: "node:24",
    github_repos: [{ owner: "acme", repo: "web" }],
    sparse: ["services/api", "libs"],
    setup_commands: ["npm ci", "for each in a b; do\n  echo $each\ndone"],
    network: "internet",
    pull_request: "off",
    secrets: [{ name: "NPM_TOKEN" }, { name: "GITHUB_TOKEN" }],
    failure_session_retention_minutes: 30,
  };
  const draft = environmentDraftOf(config);

  test("an environment comes back as the same configuration, with commands of several lines", () => {
    expect(environmentConfigOf({ ...draft, description: "A shop" }, config)).toEqual({
      ...config,
      description: "A shop",
    });
  });

  test("each line is a repository or a command", () => {
    const changed = {
      ...draft,
      repositories: "acme/web\n\n acme/api ",
      commands: "npm ci\nnpm test\n",
      folders: "libs\n\n",
    };

    expect(environmentConfigOf(changed, config)).toMatchObject({
      github_repos: [
        { owner: "acme", repo: "web" },
        { owner: "acme", repo: "api" },
      ],
      sparse: ["libs"],
      setup_commands: ["npm ci", "npm test"],
    });
  });

  test("a name of spaces and a repository without an owner are problems", () => {
    const paths = environmentIssuesOf({ ...draft, name: " ", repositories: "web" }).map(({ path }) => path);

    expect(paths).toEqual(["config.name", "config.github_repos"]);
  });
});
