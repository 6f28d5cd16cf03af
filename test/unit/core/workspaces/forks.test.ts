import { expect, test } from "vitest";
import { publishTargetOf } from "../../../../src/core/pull-requests/publish-target.ts";
import { pullRequestText } from "../../../../src/core/pull-requests/pull-request-text.ts";
import { homeRepositoryOf } from "../../../../src/core/runs/home-repository.ts";
import { grantOf, planOf } from "../../../../src/core/workspaces/workspace-plan.ts";
import { aRun } from "../../../support/run-builders.ts";

const COMMIT = "a".repeat(40);
const RUN = aRun({
  provenance: {
    repository: { id: 1, full_name: "acme/web" },
    object: { in: "pull_request", number: 9 },
    head: { commit: COMMIT, base: "release", fork: "rob/web" },
  },
});

test("a run in the pull request of a fork works on its commit, as an untrusted one", () => {
  expect(planOf(RUN, undefined).repositories).toEqual([
    { owner: "acme", name: "web", ref: COMMIT, isUntrusted: true },
  ]);
});

test("a ref that the request names is the team's own", () => {
  const config = { repository: "acme/web", ref: "main" };

  expect(planOf({ ...RUN, config }, undefined).repositories).toEqual([
    { owner: "acme", name: "web", ref: "main" },
  ]);
});

test("a run in the pull request of a fork may push only to branches of Errand's own", () => {
  const { repositories } = grantOf(RUN, planOf(RUN, undefined), { network: "none", mcpServers: {} });

  expect(repositories).toEqual([{ owner: "acme", name: "web", push: true, branchPrefix: "errand/" }]);
});

test("its work goes into the base of the pull request, by a pull request that says why", () => {
  expect(publishTargetOf(RUN, "draft")).toEqual({
    owner: "acme",
    name: "web",
    setting: "draft",
    base: "release",
  });
  const { fork } = homeRepositoryOf(RUN) ?? {};
  const words = { answer: "", issue: undefined, beside: undefined, sessionLink: "http://here", fork };
  expect(pullRequestText(RUN, words).body).toContain(
    `The head of that pull request is in rob/web, to which nothing can be pushed.`,
  );
});
