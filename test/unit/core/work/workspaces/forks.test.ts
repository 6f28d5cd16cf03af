import { expect, test } from "vitest";
import type { PullRequestSetting } from "../../../../../src/core/model/repositories/pull-request-setting.ts";
import { homeRepositoryOf } from "../../../../../src/core/model/runs/home-repository.ts";
import { NO_PUSH_IN_REVIEWS } from "../../../../../src/core/model/runs/review.ts";
import { CONFIG_LAYERS, type ConfigLayer, type Run } from "../../../../../src/core/model/runs/run.ts";
import { planOf } from "../../../../../src/core/runs/executed/workspace-plan.ts";
import { NoticeWriter } from "../../../../../src/core/runs/notice-writer.ts";
import { publishTargetsOf } from "../../../../../src/core/work/changes/publish-target.ts";
import { pullRequestText } from "../../../../../src/core/work/changes/pull-request-text.ts";
import { grantOf } from "../../../../../src/core/work/context/attempt-context.ts";
import { aRun } from "../../../../support/run-builders.ts";

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

interface Request {
  readonly setting?: PullRequestSetting;
  readonly layer?: ConfigLayer;
  readonly isByWriter?: boolean;
}

function aRequest({ isByWriter = true, layer = "request", setting }: Request): Run {
  const { provenance } = RUN;
  const head = { commit: COMMIT, base: "release", fork: "rob/web", requested_by_writer: isByWriter };
  return {
    ...RUN,
    config: setting === undefined ? {} : { pull_request: setting },
    provenance: { ...provenance, head, ...(setting && { config_layers: { pull_request: layer } }) },
  };
}

function pushGrantsOf(run: Run) {
  return grantOf(run, planOf(run, undefined), { network: "none", mcpServers: {} }).repositories;
}

test.each<Request>([
  {},
  { setting: "off" },
  { setting: "draft", isByWriter: false },
  ...CONFIG_LAYERS.filter((layer) => layer !== "request").map(
    (layer) => ({ setting: "ready", layer }) as const,
  ),
])("neither Errand nor the agent pushes the work in the pull request of a fork: %j", (request) => {
  const run = aRequest(request);

  expect(publishTargetsOf({ run, plan: planOf(run, undefined) }, "ready")).toEqual([]);
  expect(pushGrantsOf(run)).toEqual([{ owner: "acme", name: "web", push: false }]);
});

test.each(["draft", "ready"] as const)("a request of a writer with %s opens a pull request", (setting) => {
  const run = aRequest({ setting });

  expect(publishTargetsOf({ run, plan: planOf(run, undefined) }, "off")).toEqual([
    { owner: "acme", name: "web", setting, base: "release" },
  ]);
  expect(pushGrantsOf(run)).toEqual([
    { owner: "acme", name: "web", push: true, branchPrefixes: ["errand/", `errand-${run.id.slice(-12)}`] },
  ]);
});

test("its pull request says which commits it has", () => {
  const { fork } = homeRepositoryOf(RUN) ?? {};
  const words = { answer: "", issue: undefined, beside: undefined, sessionLink: "http://here", fork };

  expect(pullRequestText(RUN, words).body).toContain(
    `The head of that pull request is in rob/web, to which nothing can be pushed.`,
  );
});

test("a fork that was deleted is named as such, on the card and in the pull request", () => {
  const { provenance } = RUN;
  const run = { ...RUN, provenance: { ...provenance, head: { commit: COMMIT, base: "release" } } };
  const { workspace } = new NoticeWriter(() => "http://here", new Map()).card(run, new Date());

  const { fork } = homeRepositoryOf(run) ?? {};
  const words = { answer: "", issue: undefined, beside: undefined, sessionLink: "http://here", fork };

  expect(workspace?.reason).toBe(
    `at ${COMMIT.slice(0, 7)} of a fork that was deleted, so the work comes back as a patch`,
  );
  expect(pullRequestText(run, words).body).toContain(
    "The head of that pull request is in a fork that was deleted,",
  );
});

test("a review pushes nothing, also with the words of a writer, and says why", () => {
  const run = aRequest({ setting: "draft" });
  const review = { ...run, provenance: { ...run.provenance, review: true } };

  expect(publishTargetsOf({ run: review, plan: planOf(review, undefined) }, "ready")).toEqual([]);
  expect(pushGrantsOf(review)).toEqual([
    { owner: "acme", name: "web", push: false, noPush: NO_PUSH_IN_REVIEWS },
  ]);
});
