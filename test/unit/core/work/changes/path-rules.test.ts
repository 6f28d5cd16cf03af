import { beforeEach, expect, test } from "vitest";
import { AppError } from "../../../../../src/core/basics/errors.ts";
import type { RepositorySettings } from "../../../../../src/core/model/repositories/repository-settings.ts";
import type { Run } from "../../../../../src/core/model/runs/run.ts";
import { END_TURN } from "../../../../support/scripted-agents.ts";
import { waitFor } from "../../../../support/wait-for.ts";
import { InboxHarness, KEY } from "../../threads/inbox/inbox-harness.ts";

const PROVENANCE = { repository: { id: 7, full_name: "acme/widgets" }, object: { in: "issue", number: 9 } };
const PROBLEM =
  "file: pull_request.paths allows changes only in web/**, docs, and these files are changed too: `api/a.ts`.";

let harness: InboxHarness;
beforeEach(async () => {
  harness = new InboxHarness();
  await harness.start();
  harness.pullRequests.repositorySettings = settings({ paths: ["web/**", "docs"] });
  harness.changes.sinceSnapshot.set("acme/widgets", "diff\n");
  harness.changes.sinceClone.set("acme/widgets", "diff\n");
});

function settings(changes: Partial<RepositorySettings>): RepositorySettings {
  return {
    config: {},
    off: [],
    refusals: "comment",
    mistakes: [],
    mistakeAt: (member, problem) => `file: ${member} ${problem}`,
    ...changes,
  };
}

/** A request in an issue, and its run once it has ended. The agent says how often it was prompted. */
async function ask(): Promise<Run> {
  for (const words of ["First.", " Second."]) {
    harness.agents.scripts.push(async ({ say }) => {
      say(words);
      return END_TURN;
    });
  }
  await harness.receive({ provenance: PROVENANCE });
  const look = async () => {
    const run = await harness.currentRun();
    return run.lease === undefined && run.state === "SUCCEEDED" && run;
  };
  return waitFor(look, { what: "the run to be free", everyMs: 2 });
}

test("the agent learns in the same turn which files it must not change, and what is left is pushed", async () => {
  harness.changes.outsideFiles.push(["api/a.ts"]);

  const run = await ask();

  expect(harness.agents.prompts).toHaveLength(2);
  expect(harness.agents.prompts[1]).toContain(PROBLEM);
  expect(run).toMatchObject({ turn: 1, answer: "First. Second." });
  expect(harness.changes.pushes).toHaveLength(1);
  expect(run.outcome?.refused).toBeUndefined();
});

test("work outside of the paths is not pushed, the agent is told once, and the answer names the files", async () => {
  harness.changes.outsideFiles.push(["api/a.ts"], ["api/a.ts"]);

  const run = await ask();

  expect(harness.agents.prompts).toHaveLength(2);
  expect(harness.changes.pushes).toEqual([]);
  expect(harness.pullRequests.drafts).toEqual([]);
  expect(run.outcome?.refused).toMatchObject([{ what: "push", by: "Errand", message: PROBLEM }]);
  const notices = harness.adapter.thread(KEY).map(({ notice }) => notice);
  const [answer] = notices.flatMap((notice) => (notice.kind === "message" ? [notice] : []));
  expect(answer?.unpushed?.words).toContain(PROBLEM);
});

test("nothing is pushed while a restriction of the repository cannot be read", async () => {
  harness.pullRequests.repositorySettings = settings({ unreadable: "file, line 3: `pathes` is unknown." });

  const run = await ask();

  expect(harness.changes.pushes).toEqual([]);
  expect(run.outcome?.refused).toMatchObject([{ message: "file, line 3: `pathes` is unknown." }]);
});

test("each push signs off the commits if the repository wants it", async () => {
  harness.pullRequests.repositorySettings = settings({ signsOff: true });

  await ask();

  expect(harness.changes.pushes).toMatchObject([{ signsOff: true }]);
});

test("the commits of a push are made at the host one after the other if the repository wants it", async () => {
  harness.pullRequests.repositorySettings = settings({ hostSigns: true });
  const busy = new AppError("resource_unavailable", "The host is busy.", { retryAfterMs: 60_000 });
  harness.pullRequests.commitFaults.push(
    new AppError("resource_unavailable", "The host answered 502."),
    busy,
  );

  await ask();

  const [{ signing } = {}] = harness.changes.pushes;
  const commit = { message: "One", tree: "t1", files: [] };
  const making = signing?.make([
    { ...commit, id: "a", parents: ["base"] },
    { ...commit, id: "b", parents: ["a", "other"] },
  ]);
  await harness.clock.advance(10_000);
  expect(harness.pullRequests.commits).toEqual([]);
  await harness.clock.advance(60_000);
  expect(await making).toBe("made-b");
  expect(harness.pullRequests.commits).toMatchObject([
    { id: "a", parents: ["base"] },
    { id: "b", parents: ["made-a", "other"] },
  ]);
});

test("the answer says why the host did not sign the commits", async () => {
  harness.pullRequests.repositorySettings = settings({ hostSigns: true });
  harness.changes.signingProblems.push("there are more than 20 of them.");

  await ask();

  const words =
    "forge.example did not sign the new commits in acme/widgets, because there are more than 20 of them.";
  const notices = harness.adapter.thread(KEY).map(({ notice }) => notice);
  const [answer] = notices.flatMap((notice) => (notice.kind === "message" ? [notice] : []));
  expect(answer?.text).toContain(words);
});

test("the agent itself pushes only to repositories without rules for pushes", async () => {
  await ask();
  const [grant] = harness.gateways.grants;
  const refusal = () => grant?.refusalOfPush?.({ owner: "acme", name: "widgets" });

  expect(await refusal()).toContain("Errand pushes the work after the turn");
  harness.pullRequests.repositorySettings = settings({ signsOff: true });
  expect(await refusal()).toContain("Errand pushes the work after the turn");
  harness.pullRequests.repositorySettings = settings({ hostSigns: true });
  expect(await refusal()).toContain("Errand pushes the work after the turn");
  harness.pullRequests.repositorySettings = settings({});
  expect(await refusal()).toBeUndefined();
  harness.pullRequests.repositorySettings = undefined;
  expect(await refusal()).toBeUndefined();
  harness.pullRequests.settings = async () => {
    throw new AppError("invalid_request", "No.");
  };
  expect(await refusal()).toBe("No.");
});
