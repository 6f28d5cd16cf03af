import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { NO_PUSH_IN_REVIEWS } from "../../src/core/model/runs/review.ts";
import type { Written } from "../support/emulated-github.ts";
import { waitFor } from "../support/wait-for.ts";
import { GithubIssue } from "./github-issue.ts";
import { Fixture, TEST_LIMIT_MS, WAIT_LIMIT_MS } from "./service-fixture.ts";

vi.setConfig({ testTimeout: TEST_LIMIT_MS });

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.open({}, { hasGitOnGithub: true, writesChecks: true });
});
afterEach(() => fixture.checkInvariants());
afterAll(() => fixture?.close());

/** A pull request of a person, whose branch has one more file than the default branch. */
async function aPullRequest(branch: string): Promise<Written> {
  const { github, gitHost } = fixture;
  await gitHost.repositories.commitAt(`refs/heads/${branch}`, github.repo.fullName, {
    "notes.txt": "helo\n",
  });
  const pull = await github.openPullRequest("wendy", { title: "Notes", body: "Some.", branch });
  github.reviews.files.set(pull.number, [{ filename: "notes.txt", patch: "@@ -0,0 +1 @@\n+helo" }]);
  return pull;
}

/** The lines with which the demo agent reports findings. */
function reportOf(...findings: readonly object[]): string {
  return `say Looks fine.\nsay \`\`\`errand-review\nsay ${JSON.stringify({ findings })}\nsay \`\`\``;
}

async function untilReviews(number: number, count: number) {
  const find = async () => {
    const reviews = await fixture.github.reviewsOf(number);
    return reviews.length >= count ? reviews : undefined;
  };
  return waitFor(find, { what: `${count} reviews`, timeoutMs: WAIT_LIMIT_MS });
}

async function untilConclusion(conclusion: string, title: string): Promise<void> {
  const isShown = () => {
    const check = fixture.github.checkRuns.at(-1);
    return JSON.stringify(check?.output).includes(title) ? check?.conclusion : undefined;
  };
  expect(await waitFor(isShown, { what: title, timeoutMs: WAIT_LIMIT_MS })).toBe(conclusion);
}

test("a review comments on lines, cannot push, is repeated for new commits, and leaves work to another run", async () => {
  const { github, gitHost } = fixture;
  const { fullName } = github.repo;
  const opened = await aPullRequest("feature");
  const pull = new GithubIssue(fixture, opened.number);
  const branches = await gitHost.repositories.branches(fullName);
  const typo = { id: "typo", path: "notes.txt", line: 1, title: "A typo", suggestion: "hello" };
  const far = { path: "README.md", line: 9, title: "Not in the diff" };

  await pull.comment(
    `@errand review\nshell git push origin HEAD:refs/heads/mine 2>&1\n${reportOf(typo, far)}`,
  );
  const [review] = await untilReviews(opened.number, 1);
  await untilConclusion("neutral", "Reviewed: 2 findings");

  expect(review?.body).toMatch(/@wendy .*Looks fine\..*do not fit a line.*`README\.md:9` Not in the diff/s);
  expect(github.reviewThreads.threads(opened.number).map(({ comment }) => comment.body)).toEqual([
    expect.stringContaining("```suggestion\nhello\n```"),
  ]);
  const events = JSON.stringify(await fixture.api.events(pull.runId));
  expect(events).toContain(NO_PUSH_IN_REVIEWS);
  expect(await gitHost.repositories.branches(fullName)).toEqual(branches);
  expect(pull.answers).toEqual([]);

  // The same head again: what it says is a comment, and the typo is gone.
  await pull.comment(`@errand review again\n${reportOf()}`);
  await pull.untilAnswers(1);
  await untilConclusion("success", "Reviewed: no findings");
  await waitFor(() => github.reviewThreads.threads(opened.number)[0]?.isResolved, {
    what: "the thread to be resolved",
    timeoutMs: WAIT_LIMIT_MS,
  });
  expect(await github.reviewsOf(opened.number)).toHaveLength(1);

  const review1 = pull.runId;
  for (const sha of ["a".repeat(40), "a".repeat(40), "b".repeat(40)]) {
    await fixture.sendGithub(github.pushTo(opened, sha));
  }
  const asked = async () => {
    const texts = (await fixture.followUpsOf(review1)).map((each) => JSON.stringify(each));
    return texts.filter((text) => text.includes("The pull request has new commits"));
  };
  await waitFor(async () => (await asked()).length >= 1, { what: "the follow-up", timeoutMs: WAIT_LIMIT_MS });
  await pull.untilCard("Done", /turn [34]/);

  await pull.comment("@errand write fixed.txt hello");
  await waitFor(() => pull.runId !== review1 && pull.runId, {
    what: "another run",
    timeoutMs: WAIT_LIMIT_MS,
  });
  await pull.untilCard("Done", /turn 1/);
  expect(await gitHost.repositories.read(fullName, "feature", "fixed.txt")).toContain("hello");
});

test("a policy has opened pull requests reviewed, and a person asks the account of the bot for a review", async () => {
  const quiet = await aPullRequest("quiet");
  await fixture.sendGithub(quiet);
  // The worker takes it up before the policy is there, which would have it reviewed.
  expect(await fixture.dispositions(1)).toEqual(["ignored"]);
  const body = {
    name: "review all",
    effect: "allow",
    match: { request_kinds: ["pull_request_opened"], places: [fixture.github.repo.fullName] },
  };
  expect((await fixture.api.call("POST", "/agent/policies", body)).status).toBe(201);
  const loud = await aPullRequest("loud");
  await fixture.sendGithub(loud);

  const pull = new GithubIssue(fixture, loud.number);
  await pull.untilCard("Done");
  expect(await fixture.api.getRun(pull.runId)).toMatchObject({ prompt: "Review this pull request." });
  const other = new GithubIssue(fixture, quiet.number);
  expect(other.comments).toEqual([]);

  await fixture.sendGithub(await fixture.github.requestReviewAs("wendy", quiet, "errand"));
  await other.untilCard("Done");
});
