import { beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../../../src/core/basics/errors.ts";
import type { RunId } from "../../../../src/core/basics/ids.ts";
import {
  checksText,
  countChecks,
  type PullRequestStatus,
} from "../../../../src/core/model/repositories/pull-request-status.ts";
import { PullRequestReader } from "../../../../src/core/requests/pull-request-reader.ts";
import { SILENT_LOG } from "../../../support/logs.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { InMemoryPullRequests } from "../../../support/memory/in-memory-pull-requests.ts";
import { aRun } from "../../../support/run-builders.ts";
import { waitFor } from "../../../support/wait-for.ts";

const URL = "https://forge.example/acme/widgets/pull/7";
const OPEN: PullRequestStatus = { url: URL, state: "open", checks: [{ name: "unit", state: "running" }] };

let clock: ManualClock;
let pullRequests: InMemoryPullRequests;
let stored: [RunId, PullRequestStatus][];
let reader: PullRequestReader;
beforeEach(() => {
  clock = new ManualClock();
  pullRequests = new InMemoryPullRequests();
  pullRequests.statuses.set(URL, OPEN);
  stored = [];
  const runs = {
    setPullRequestStatus: async (id: RunId, status: PullRequestStatus) => {
      stored.push([id, status]);
    },
  };
  reader = new PullRequestReader({ pullRequests, runs, clock, log: SILENT_LOG });
});

async function readsSoon(count: number): Promise<void> {
  await waitFor(() => pullRequests.reads.length === count, { what: `${count} readings` });
}

describe("the reader of pull requests", () => {
  test("a new status is stored, and the same one again is not", async () => {
    const run = aRun({ pullRequest: URL });
    reader.refresh(run);
    await waitFor(() => stored.length === 1, { what: "the stored status" });

    await clock.advance(15_000);
    reader.refresh({ ...run, pullRequestStatus: OPEN });
    await readsSoon(2);

    expect(stored).toEqual([[run.id, OPEN]]);
  });

  test("27 open pull requests whose checks are over, looked at each second, are read once a minute each", async () => {
    const QUIET = { ...OPEN, checks: [{ name: "unit", state: "passed" }] } as const;
    const runs = Array.from({ length: 27 }, (_, number) => {
      const url = `${URL}${number}`;
      pullRequests.statuses.set(url, { ...QUIET, url });
      return aRun({ pullRequest: url, pullRequestStatus: { ...QUIET, url } });
    });

    for (let second = 0; second < 180; second += 1) {
      for (const run of runs) {
        reader.refresh(run);
      }
      await clock.advance(1_000);
    }

    expect(pullRequests.reads.length).toBeGreaterThanOrEqual(2 * 27);
    expect(pullRequests.reads.length).toBeLessThanOrEqual(3 * 27);
  });

  test("what an event brought is stored if it is new, and a look after it reads nothing", async () => {
    const run = aRun({ pullRequest: URL });
    await reader.take(run, OPEN);
    reader.refresh(run);
    await reader.take({ ...run, pullRequestStatus: OPEN }, OPEN);
    await reader.take(run, { ...OPEN, url: `${URL}0` });

    expect(pullRequests.reads).toEqual([]);
    expect(stored).toEqual([[run.id, OPEN]]);
  });

  test("a pull request that the platform refuses to show is asked for seldom", async () => {
    const run = aRun({ pullRequest: URL });
    pullRequests.faults.push(new AppError("resource_not_found", "Gone."));
    reader.refresh(run);
    await clock.advance(60_000);
    reader.refresh(run);
    expect(pullRequests.reads).toEqual([]);

    await clock.advance(9 * 60_000);
    reader.refresh(run);
    await readsSoon(1);
  });

  test("however often it is looked at, a pull request is read once in a while, and a merged one seldom", async () => {
    const run = aRun({ pullRequest: URL });
    reader.refresh(run);
    reader.refresh(run);
    await clock.advance(14_999);
    reader.refresh(run);
    await readsSoon(1);

    const merged = { ...run, pullRequestStatus: { ...OPEN, state: "merged" } as const };
    await clock.advance(60_000);
    reader.refresh(merged);
    expect(pullRequests.reads.length).toBe(1);
    await clock.advance(600_000);
    reader.refresh(merged);
    await readsSoon(2);
  });

  test("a run without a pull request reads nothing, and a list begins only a few readings", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    pullRequests.readGates.push(...Array<Promise<void>>(10).fill(promise));

    reader.refresh(aRun());
    for (let index = 0; index < 10; index += 1) {
      reader.refresh(aRun({ pullRequest: URL }));
    }

    expect(pullRequests.reads.length).toBe(4);
    resolve();
    await waitFor(() => stored.length === 4, { what: "the readings" });
  });

  test("a platform that does not answer changes nothing, and is asked again later", async () => {
    pullRequests.faults.push(new Error("unreachable"));
    const run = aRun({ pullRequest: URL });
    reader.refresh(run);

    await clock.advance(15_000);
    reader.refresh(run);

    await waitFor(() => stored.length === 1, { what: "the second reading" });
  });
});

test.each([
  [["passed", "passed", "passed", "running"], "checks 3 of 4 passed"],
  [["passed", "failed", "skipped"], "checks 1 of 2 passed, 1 failed"],
  [["skipped"], ""],
] as const)("checks that are %j are summed up", (states, text) => {
  expect(checksText(countChecks(states.map((state) => ({ name: "c", state }))))).toBe(text);
});
