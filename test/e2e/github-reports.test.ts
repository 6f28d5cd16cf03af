import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { waitFor } from "../support/wait-for.ts";
import { GithubIssue } from "./github-issue.ts";
import { Fixture, TEST_LIMIT_MS, WAIT_LIMIT_MS } from "./service-fixture.ts";

vi.setConfig({ testTimeout: TEST_LIMIT_MS });

/** More deliveries than the tests send. */
const ALL = 200;

/** The tests run one after another, because the invariants are checked after each. */
let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.open({ ERRAND_SANDBOX: "local" });
});
afterEach(() => fixture.checkInvariants());
afterAll(() => fixture?.close());

/** A pull request that a run opened. */
async function pullOfARun(): Promise<{ readonly issue: GithubIssue; readonly pull: GithubIssue }> {
  const issue = await GithubIssue.open(fixture);
  await issue.comment("@errand write notes.txt hello");
  const card = await issue.untilCard("Done", /Its pull request:/);
  return { issue, pull: new GithubIssue(fixture, Number(/\/pull\/(\d+)/.exec(card.body)?.[1])) };
}

test("the events of a review in any order are one turn", async () => {
  const { issue, pull } = await pullOfARun();
  const { github } = fixture;
  const one = await github.reviewCommentAs("wendy", pull.number, "@errand say one");
  const two = await github.reviewCommentAs("wendy", pull.number, "@errand say two");
  const review = await github.reviewAs("wendy", pull.number, {
    body: "@errand say both",
    event: "REQUEST_CHANGES",
  });

  for (const written of [two, review, one]) {
    await fixture.sendGithub(written);
  }

  expect(await pull.untilAnswers(1)).toHaveLength(1);
  await pull.untilReaction(one, "rocket");
  await pull.untilReaction(two, "rocket");
  expect(pull.reviewAnswers).toEqual([]);
  const turns = (await fixture.api.events(issue.runId)).filter(({ kind }) => kind === "turn.ended");
  expect(turns).toHaveLength(2);
  expect(await fixture.followUpsOf(issue.runId)).toHaveLength(3);
});

test("each thread of several says what was done there, and the one whose request was carried out is resolved", async () => {
  const { pull } = await pullOfARun();
  const { github } = fixture;
  const done = await github.reviewCommentAs("wendy", pull.number, "@errand write README.md Better.");
  const list = JSON.stringify([{ thread: done.id, reply: "I wrote it anew.", done: true }]);
  const words = `say All is done.\nsay \`\`\`errand-threads\nsay ${list}\nsay \`\`\``;
  const asked = await github.reviewCommentAs("wendy", pull.number, `@errand ${words}`);
  for (const written of [done, asked]) {
    await fixture.sendGithub(written);
  }

  await waitFor(() => pull.replies.length >= 2, { what: "a reply in each thread", timeoutMs: WAIT_LIMIT_MS });
  const [answer] = await pull.untilAnswers(1);
  expect(answer).toContain("All is done.");
  expect(answer).not.toContain("errand-threads");
  expect(pull.replies).toMatchObject([
    expect.stringMatching(/> I wrote it anew\.\n\n\[The whole answer\]/),
    expect.stringContaining("[Answered here]"),
  ]);
  await waitFor(() => github.reviewThreads.threads(pull.number)[0]?.isResolved === true, {
    what: "the thread to be resolved",
    timeoutMs: WAIT_LIMIT_MS,
  });
  expect(github.reviewThreads.threads(pull.number)[1]?.isResolved).toBe(false);
});

test("failing checks and commit statuses of a run's pull request are one follow-up, and its end is answered there", async () => {
  const { issue, pull } = await pullOfARun();
  await issue.untilAnswers(1);
  expect(pull.comments).toEqual([]);
  const events = [
    await fixture.github.reportStatus(pull.number, { context: "ci/build", state: "failure" }),
    await fixture.github.failCheck(pull.number, "tests"),
    await fixture.github.failCheck(pull.number, "lint"),
  ];

  for (const event of events) {
    await fixture.sendGithub(event);
  }

  await waitFor(async () => (await fixture.followUpsOf(issue.runId)).length > 0, {
    what: "the follow-up",
    timeoutMs: WAIT_LIMIT_MS,
  });
  await waitFor(() => pull.answers.length > 0, { what: "the answer", timeoutMs: WAIT_LIMIT_MS });
  const [followUp, ...others] = await fixture.followUpsOf(issue.runId);
  expect(others).toEqual([]);
  expect(JSON.stringify(followUp)).toMatch(/These checks fail: (tests, lint|lint, tests), ci\/build\./);
  expect(issue.answers).toHaveLength(1);
  expect(pull.cards).toEqual([]);
});

test("a merge conflict and a failure in the merge queue are follow-ups, and after two attempts a question to the requester", async () => {
  const { issue, pull } = await pullOfARun();
  const { github } = fixture;
  const attempts = async () =>
    (await fixture.followUpsOf(issue.runId)).filter((each) =>
      /has a merge conflict|The merge queue removed/.test(JSON.stringify(each)),
    );

  const reports = [
    () => github.makeConflict(pull.number, "a".repeat(40)),
    () => github.failInQueue(pull.number, "b".repeat(40)),
  ];
  for (const [count, reported] of reports.entries()) {
    const event = await reported();
    await fixture.sendGithub(event);
    await pull.untilAnswers(count + 1);
    await issue.untilCard("Done", new RegExp(`turn ${count + 2}`));
    // GitHub delivers the same event again.
    await fixture.sendGithub(event);
  }
  for (const commit of ["c".repeat(40), "d".repeat(40)]) {
    await fixture.sendGithub(await github.makeConflict(pull.number, commit));
    await pull.untilAnswers(3);
  }

  await fixture.dispositions(ALL);
  // What the thread shows later stands behind all that was to be shown before.
  await pull.comment("@errand say another way");
  await pull.untilAnswers(4);

  expect(await attempts()).toHaveLength(2);
  expect(pull.answers).toHaveLength(4);
  expect(pull.answers.at(2)).toMatch(
    /^@wendy .*I tried 2 times by myself, and it is not done\..* conflict with main\..*What shall I do\?/ms,
  );
  expect(issue.answers).toHaveLength(1);
});
