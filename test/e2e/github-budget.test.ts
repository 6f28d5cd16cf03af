import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { GithubCall } from "../support/github/github-api.ts";
import { asRecord } from "../support/json.ts";
import { GithubIssue } from "./github-issue.ts";
import { Fixture, TEST_LIMIT_MS } from "./service-fixture.ts";

const EDIT = /\/comments\/\d+$/;
const MENTION_CALLS_MAX = 12;

vi.setConfig({ testTimeout: TEST_LIMIT_MS });

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.openWithGit();
});

afterAll(() => fixture?.close());

/** The calls of the service, without the edits of a card between its first and its last state, as one line each. */
function countedCalls(calls: readonly GithubCall[]): string[] {
  const last = new Map(calls.filter(isEdit).map((call) => [call.path, call]));
  const counted = calls.filter((call) => !isEdit(call) || last.get(call.path) === call);
  return counted.map(({ body, method, outcome, path }) => {
    const { content, permissions } = asRecord(body ?? {});
    return `${method} ${path} ${outcome} ${JSON.stringify({ content, permissions })}`;
  });
}

function isEdit({ method, path }: GithubCall): boolean {
  return method === "PATCH" && EDIT.test(path);
}

test("a mention in an issue, with one turn and one pull request, takes at most 12 calls of GitHub", async () => {
  const first = await GithubIssue.open(fixture);
  await first.comment("@errand say hello");
  await first.untilCard("Done");
  const issue = await GithubIssue.open(fixture);
  const before = fixture.github.calls().length;

  const comment = await issue.comment("@errand write notes.txt hello");
  const card = await issue.untilCard("Done", /Its pull request:/);
  await new GithubIssue(fixture, Number(/\/pull\/(\d+)/.exec(card.body)?.[1])).untilCard("Done");
  await issue.untilAnswers(1);
  await issue.untilReactions(comment, 2);

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
