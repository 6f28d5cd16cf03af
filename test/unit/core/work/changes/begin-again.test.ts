import { beforeEach, expect, test } from "vitest";
import { AppError } from "../../../../../src/core/basics/errors.ts";
import type { RunId } from "../../../../../src/core/basics/ids.ts";
import { CoreHarness, LIMITS } from "../../../../support/core-harness.ts";
import { END_TURN, type Script } from "../../../../support/scripted-agents.ts";
import { waitFor } from "../../../../support/wait-for.ts";

const REPOSITORY = { owner: "acme", name: "widgets" };
const HOME = { title: "Parser breaks", provenance: { repository: { id: 7, full_name: "acme/widgets" } } };

let harness: CoreHarness;
beforeEach(async () => {
  harness = new CoreHarness();
  harness.changes.sinceSnapshot.set("acme/widgets", "diff");
  harness.changes.sinceClone.set("acme/widgets", "diff");
  await harness.start(harness.worker({ settings: { ...LIMITS, pullRequests: "draft" } }));
});

async function free(id: RunId): Promise<void> {
  const isFree = async () => {
    const { lease, state } = await harness.run(id);
    return lease === undefined && state !== "QUEUED";
  };
  await waitFor(isFree, { what: "the run to be free", everyMs: 2 });
}

async function perform(request: object = HOME): Promise<RunId> {
  const { id } = await harness.create(request);
  await free(id);
  return id;
}

async function more(id: RunId): Promise<void> {
  await harness.followUp(id, "more");
  await free(id);
}

async function lastPull(id: RunId): Promise<{ readonly url: string; readonly branch: string }> {
  const artifacts = await harness.storage.files.artifactsOf([id]);
  const body = artifacts.flatMap(({ body }) => (body.type === "PULL_REQUEST" ? [body] : [])).at(-1);
  return body ?? { url: "", branch: "" };
}

test.each(["merged", "closed"] as const)(
  "a turn after a pull request was %s goes to a new branch",
  async (state) => {
    const id = await perform();
    const first = await lastPull(id);
    harness.pullRequests.end(first, state, "release");

    await more(id);

    const second = await lastPull(id);
    expect(second.branch).toBe(`${first.branch}-2`);
    expect(harness.changes.restarts).toMatchObject([
      { base: "release", after: first.url, repository: REPOSITORY },
    ]);
    expect(harness.pullRequests.drafts.at(-1)).toMatchObject({ branch: second.branch, base: "release" });
    const sentence = `The pull request ${first.url} was ${state}, so the work began at the commit ba5eba5e of release`;
    expect(harness.agents.prompts.at(-1)).toContain(sentence);
    expect((await harness.run(id)).warnings).toEqual([expect.stringContaining(sentence)]);

    await more(id);
    expect(await lastPull(id)).toEqual(second);
    expect(harness.agents.prompts.at(-1)).not.toContain(sentence);

    harness.pullRequests.end(second, "merged", "release");
    await more(id);
    expect((await lastPull(id)).branch).toBe(`${first.branch}-3`);
  },
);

test("while the pull request is open, or nothing says how it ended, a turn continues its branch", async () => {
  const id = await perform();
  const first = await lastPull(id);
  await more(id);
  harness.pullRequests.end(first, "merged", "main");
  harness.pullRequests.statuses.delete(first.url);
  await more(id);

  expect(harness.changes.restarts).toEqual([]);
  expect(harness.changes.pushes.map(({ branch }) => branch)).toEqual(Array(3).fill(first.branch));
});

test("the work on the branch of a person's pull request gets a branch of its own once that is merged", async () => {
  const pull = harness.pullRequests.openedByOther(REPOSITORY, "feature");
  const head = { branch: "feature", may_push: true };
  const id = await perform({ ...HOME, provenance: { ...HOME.provenance, head } });
  expect(harness.changes.pushes).toMatchObject([{ branch: "feature", isShared: true }]);
  harness.pullRequests.end(pull, "merged", "main");

  await more(id);

  const { branch } = await lastPull(id);
  expect(branch).toMatch(/^errand\/.*-parser-breaks$/);
  expect(harness.pullRequests.drafts).toMatchObject([{ branch, base: "main" }]);
});

test("a branch of the agent whose pull request was merged is not continued", async () => {
  const pushes: Script = async () => {
    harness.gateways.last.push({ ...REPOSITORY, branch: "feature-x", commit: "c0ffee" });
    return END_TURN;
  };
  harness.agents.scripts.push(pushes);
  const id = await perform();
  harness.pullRequests.end(await lastPull(id), "merged", "main");

  await more(id);

  expect((await lastPull(id)).branch).toMatch(/^errand\//);
});

test("a turn whose repository cannot begin again works where it is, and the log says why", async () => {
  const id = await perform();
  const { branch, url } = await lastPull(id);
  harness.pullRequests.end({ branch, url }, "merged", "main");
  harness.pullRequests.faults.push(new AppError("not_authorized", "No."));

  await more(id);

  const reasons = (await harness.events(id)).flatMap(({ body }) =>
    body.kind === "changes.not_kept" ? [body.reason] : [],
  );
  expect(reasons).toEqual([
    expect.stringMatching(/^The work in acme\/widgets could not begin at its newest commit/),
  ]);
  expect((await harness.run(id)).state).toBe("SUCCEEDED");
});
