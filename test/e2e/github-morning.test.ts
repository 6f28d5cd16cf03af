import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { waitFor } from "../support/wait-for.ts";
import { GithubIssue } from "./github-issue.ts";
import { Fixture, TEST_LIMIT_MS, WAIT_LIMIT_MS } from "./service-fixture.ts";

vi.setConfig({ testTimeout: 2 * TEST_LIMIT_MS });

/** The demo agent writes a report in a repository that has none. */
const WITHOUT_REPORT = "rm -f ERRAND-REPORT.md";

/** Words that approve count only for what has been shown for ten seconds. */
const READING_MS = 11_000;

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.open({}, { hasGitOnGithub: true, writesChecks: true });
});
afterEach(() => fixture.checkInvariants());
afterAll(() => fixture?.close());

async function untilRead(): Promise<void> {
  const shownAt = Date.now();
  const isRead = () => Date.now() - shownAt > READING_MS;
  await waitFor(isRead, { what: "the words to be read", timeoutMs: WAIT_LIMIT_MS });
}

test("a maintainer's morning: an outsider's request is approved, repaired, reviewed and merged, and the next one begins anew", async () => {
  const { api, github, gitHost } = fixture;
  const { fullName } = github.repo;
  const maintainer = github.owner.login;
  const issue = await GithubIssue.open(fixture);

  // An outsider asks. Nothing is done before a person who can push approves the words.
  await issue.comment(`@errand shell ${WITHOUT_REPORT} && echo helo > greeting.txt`, github.reader.login);
  await issue.untilCard("Waiting for approval", /echo helo > greeting\.txt[\s\S]*`@errand approve`/);
  expect(github.pullRequests()).toEqual([]);
  await untilRead();
  await issue.comment("@errand approve", maintainer);
  await issue.untilAnswers(1);
  await issue.untilCard("Done", /\[Pull request\]/);
  const [draft] = github.pullRequests();
  expect(draft).toMatchObject({ isDraft: true });
  const pull = new GithubIssue(fixture, draft?.number ?? 0);

  // CI is red. The repair of an outsider's work waits for approval as well.
  await fixture.sendGithub(await github.failCheck(pull.number, "tests"));
  await issue.untilCard("Done", /This follow-up waits for approval:[\s\S]*These checks fail: tests/);
  await untilRead();
  await issue.comment("@errand approve", maintainer);
  await pull.untilAnswers(1);
  await issue.untilCard("Done", /turn 2/);
  await github.passChecks(pull.number, ["tests"]);

  // A maintainer has it reviewed, which is a run of its own.
  github.reviews.files.set(pull.number, [{ filename: "greeting.txt", patch: "@@ -0,0 +1 @@\n+helo" }]);
  const finding = { id: "typo", path: "greeting.txt", line: 1, title: "A typo", suggestion: "hello" };
  const report = JSON.stringify({ findings: [finding] });
  await pull.comment(
    `@errand review\nsay One typo.\nsay \`\`\`errand-review\nsay ${report}\nsay \`\`\``,
    maintainer,
  );
  await waitFor(async () => (await github.reviewsOf(pull.number)).length === 1, {
    what: "the review",
    timeoutMs: WAIT_LIMIT_MS,
  });
  const review = pull.runId;

  // It is merged as one commit, while others push to main.
  const head = await gitHost.repositories.commit(fullName, { "greeting.txt": "helo\n", "other.txt": "x\n" });
  await github.endPullRequest(pull.number, "merged");
  await issue.comment(`@errand shell ${WITHOUT_REPORT} && echo hello > greeting.txt`, maintainer);
  await issue.untilAnswers(2);
  const next = github.pullRequests().at(-1);

  expect(next?.branch).toBe(`${draft?.branch}-2`);
  const diff = await gitHost.repositories.diff(fullName, next?.branch ?? "");
  expect(diff.match(/^[+-][^+-].*$/gm)).toEqual(["-helo", "+hello"]);
  expect(issue.answers.at(-1)).toContain(
    `/pull/${pull.number} was merged, so the work began at the commit ${head.slice(0, 8)}`,
  );
  // The maintainer asked this time, and the outsider the first time.
  expect(issue.answers.map((answer) => /@(\S+) \*\*/.exec(answer)?.[1])).toEqual([
    github.reader.login,
    maintainer,
  ]);
  expect(await fixture.runsFrom(issue)).toEqual([issue.runId]);
  expect(review).not.toBe(issue.runId);
  expect(await api.getRun(issue.runId)).toMatchObject({ state: "SUCCEEDED" });
  await issue.untilCard("Done", new RegExp(`pull/${next?.number}`));
  // The pull request belongs to the review now, so the first run shows nothing more there.
  expect(pull.comments.filter(({ body }) => body.includes(`card:${issue.runId}`))).toEqual([]);
});
