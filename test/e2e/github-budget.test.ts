import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { GithubCall } from "../support/github/github-api.ts";
import { asRecord } from "../support/json.ts";
import { waitFor } from "../support/wait-for.ts";
import { GithubIssue } from "./github-issue.ts";
import { Fixture, TEST_LIMIT_MS } from "./service-fixture.ts";

const EDIT = /\/comments\/\d+$/;
const LOGS = /\/logs$/;
const MENTION_CALLS_MAX = 10;
const FAILING_CHECKS_CALLS_MAX = 22;

vi.setConfig({ testTimeout: TEST_LIMIT_MS });

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.openWithGit();
});

afterAll(() => fixture?.close());

/**
 * The calls of the service, without logs and the edits of a card between its first and its last state, as one line
 * each.
 */
function countedCalls(calls: readonly GithubCall[]): string[] {
  const last = new Map(calls.filter(isEdit).map((call) => [call.path, call]));
  const counted = calls.filter(
    (call) => !LOGS.test(call.path) && (!isEdit(call) || last.get(call.path) === call),
  );
  return counted.map(({ body, method, outcome, path }) => {
    const { content, permissions } = asRecord(body ?? {});
    return `${method} ${path} ${outcome} ${JSON.stringify({ content, permissions })}`;
  });
}

function isEdit({ method, path }: GithubCall): boolean {
  return method === "PATCH" && EDIT.test(path);
}

test("a mention in an issue, with one turn and one pull request, takes at most 10 calls of GitHub", async () => {
  const first = await GithubIssue.open(fixture);
  await first.comment("@errand say hello");
  await first.untilCard("Done");
  const issue = await GithubIssue.open(fixture);
  const before = fixture.github.calls().length;

  const comment = await issue.comment("@errand write notes.txt hello");
  const card = await issue.untilCard("Done", /Its pull request:/);
  const pull = new GithubIssue(fixture, Number(/\/pull\/(\d+)/.exec(card.body)?.[1]));
  await issue.untilAnswers(1);
  await issue.untilReaction(comment, "rocket");
  expect(pull.comments).toEqual([]);

  const calls = countedCalls(fixture.github.calls().slice(before));
  expect(calls.length, calls.join("\n")).toBeLessThanOrEqual(MENTION_CALLS_MAX);
});

test("the work is committed by the App's account, and its pull request has the template of the repository", async () => {
  const { github, gitHost } = fixture;
  const { fullName } = github.repo;
  await gitHost.repositories.commit(fullName, {
    "README.md": "# It\n",
    ".github/PULL_REQUEST_TEMPLATE.md": "## Why\n",
  });
  const issue = await GithubIssue.open(fixture);

  await issue.comment("@errand write notes.txt by whom");
  await issue.untilCard("Done", /Its pull request:/);

  const { botLogin, botUserId } = github.app;
  const branch = github.pullRequests().at(-1)?.branch ?? "";
  const author = await gitHost.repositories.author(fullName, branch);
  expect(author.split("@")[0]).toBe(`${botLogin} <${botUserId}+${botLogin}`);
  expect(author).toContain("@users.noreply.");
  const opened = asRecord(github.calls("POST", /\/pulls$/).at(-1)?.body ?? {});
  expect(opened.body).toMatch(/<!-- errand:description-end -->\n\n## Why\n$/);
});

test("a mention in a pull request with three failing checks takes at most 22 calls of GitHub", async () => {
  const issue = await GithubIssue.open(fixture);
  await issue.comment("@errand write notes.txt hello");
  const card = await issue.untilCard("Done", /Its pull request:/);
  const pull = new GithubIssue(fixture, Number(/\/pull\/(\d+)/.exec(card.body)?.[1]));
  await issue.untilAnswers(1);
  await fixture.github.failChecks(pull.number, ["build", "lint", "test"]);
  const before = fixture.github.calls().length;

  const comment = await pull.comment("@errand write notes.txt fixed");
  await pull.untilAnswers(1);
  await pull.untilCard("Done", /turn 2/);
  await issue.untilCard("Done", /turn 2/);
  await pull.untilReaction(comment, "rocket");

  const counted = countedCalls(fixture.github.calls().slice(before));
  expect(counted.filter((call) => /\/(check-runs|status) /.test(call))).toHaveLength(2);
  expect(counted.length, counted.join("\n")).toBeLessThanOrEqual(FAILING_CHECKS_CALLS_MAX);
});

/** A pull request that a run opened, whose cards are shown. */
async function pullOfARun(): Promise<{ readonly issue: GithubIssue; readonly pull: GithubIssue }> {
  const issue = await GithubIssue.open(fixture);
  await issue.comment("@errand write notes.txt hello");
  const card = await issue.untilCard("Done", /Its pull request:/);
  await issue.untilAnswers(1);
  const pull = new GithubIssue(fixture, Number(/\/pull\/(\d+)/.exec(card.body)?.[1]));
  return { issue, pull };
}

test.each([
  [3, 3],
  [30, 100],
])(
  "%d failing suites with %d checks are one turn and take at most 22 calls of GitHub",
  async (suites, checks) => {
    const { issue, pull } = await pullOfARun();
    await fixture.github.failChecks(
      pull.number,
      Array.from({ length: checks }, (_, index) => `check ${index}`),
    );
    const before = fixture.github.calls().length;

    const event = await fixture.github.endSuite(pull.number, "failure");
    await Promise.all(Array.from({ length: suites }, () => fixture.sendGithub(event)));
    await pull.untilAnswers(1);
    await issue.untilCard("Done", /turn 2/);
    await fixture.dispositions(3 * suites);

    expect(await fixture.followUpsOf(issue.runId)).toHaveLength(1);
    const counted = countedCalls(fixture.github.calls().slice(before));
    expect(counted.length, counted.join("\n")).toBeLessThanOrEqual(FAILING_CHECKS_CALLS_MAX);
  },
);

test("ten suites that pass take no call of GitHub while no check is known to run or to fail", async () => {
  const { pull } = await pullOfARun();
  const event = await fixture.github.endSuite(pull.number, "success");
  await fixture.dispositions(100);
  const before = fixture.github.calls().length;

  await Promise.all(Array.from({ length: 10 }, () => fixture.sendGithub(event)));
  const results = await fixture.dispositions(20);

  expect(results).toEqual(Array(20).fill("ignored"));
  expect(countedCalls(fixture.github.calls().slice(before))).toEqual([]);
});

test("a run whose tokens end while it works publishes its work and answers with new ones", async () => {
  const issue = await GithubIssue.open(fixture);
  await issue.comment("@errand sleep 3; write notes.txt hello");
  await waitFor(() => issue.cards.length > 0, { what: "the card to be shown" });

  fixture.github.revokeTokens();

  await issue.untilCard("Done", /Its pull request:/);
  await issue.untilAnswers(1);
  expect(fixture.github.calls().map(({ outcome }) => outcome)).toContain("401");
});
