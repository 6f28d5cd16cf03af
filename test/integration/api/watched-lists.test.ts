import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunId } from "../../../src/core/basics/ids.ts";
import { type EmulatedGithub, startEmulatedGithub } from "../../support/emulated-github.ts";
import { waitFor } from "../../support/wait-for.ts";
import { adapterOn } from "../adapters/github/github-fixture.ts";
import { call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const RUNS = "/api/v1/agent/runs";
const COUNT = 27;

let github: EmulatedGithub;
let harness: ApiHarness;
beforeAll(async () => {
  github = await startEmulatedGithub();
  const { openPullRequests } = adapterOn(github);
  harness = await startHarness({ openers: new Map([["github", openPullRequests]]) });
});
afterAll(async () => {
  await harness?.close();
  await github?.stop();
});

/** Runs with an open pull request each, one of whose checks is known to run. */
async function runsWithPullRequests(): Promise<readonly string[]> {
  const { name, owner } = github.repo;
  const access = await adapterOn(github).openPullRequests({ owner, name });
  const ids: string[] = [];
  for (let number = 0; number < COUNT; number += 1) {
    const text = { title: "Fix it", body: "Made by a run.", isDraft: false };
    const { branch = "", url = "" } = (await access?.open({ ...text, branch: `errand/${number}` })) ?? {};
    const runId = await createRun(harness, { prompt: `Fix it ${number}` });
    await harness.edit(runId, (edit) =>
      edit.addArtifact({ key: url, body: { type: "PULL_REQUEST", url, branch } }),
    );
    const checks = [{ name: "unit", state: "running" }] as const;
    await harness.runs.setPullRequestStatus(runId as RunId, { url, state: "open", checks });
    ids.push(runId);
  }
  return ids;
}

const readsOf = (number?: number) =>
  github.calls("GET", number === undefined ? /\/pulls\/\d+$/ : new RegExp(`/pulls/${number}$`)).length;

test("a list with 27 open pull requests, read once a second, reads none of them, and a run that is looked at reads its own", async () => {
  const ids = await runsWithPullRequests();
  const before = github.calls().length;

  for (let second = 0; second < 60; second += 1) {
    const { runs } = (await call(harness, `${RUNS}?limit=50`)).body;
    expect(runs).toHaveLength(COUNT);
    expect(runs[0].pull_request_status).toMatchObject({ state: "open" });
    harness.clock.aheadMs += 1_000;
  }
  expect(github.calls().slice(before)).toEqual([]);

  for (let look = 0; look < 5; look += 1) {
    await Promise.all(ids.slice(0, 3).map((id) => call(harness, `${RUNS}/${id}`)));
  }
  await waitFor(() => readsOf() === 3, { what: "the pull requests to be read" });
  const statusOf = async () => (await call(harness, `${RUNS}?limit=50`)).body.runs.at(-1).pull_request_status;
  await waitFor(async () => (await statusOf()).checks.total === 0, { what: "the list to show it" });
  expect(readsOf()).toBe(3);
});
