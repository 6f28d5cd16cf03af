import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { GithubIssue } from "./github-issue.ts";
import { Fixture, TEST_LIMIT_MS } from "./service-fixture.ts";

vi.setConfig({ testTimeout: TEST_LIMIT_MS });

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.openWithGit();
});
afterAll(() => fixture?.close());

const IDENTITY = "-c user.name=Agent -c user.email=agent@example.com";

test("work on another branch is in the pull request, and files that are left out are named on the issue", async () => {
  const { api, github, gitHost } = fixture;
  const issue = await GithubIssue.open(fixture);
  const work = [
    // The demo agent writes it in the first turn of an issue.
    "rm ERRAND-REPORT.md",
    "git checkout --quiet -b side",
    "echo hello > notes.txt",
    "git add notes.txt",
    `git ${IDENTITY} commit --quiet -m 'Add notes'`,
    "git checkout --quiet -",
  ];

  const first = await issue.comment(`@errand shell ${work.join(" && ")}`);
  await issue.untilCard("Done", /Its pull request:/);
  const [answer = ""] = await issue.untilAnswers(1);
  await issue.untilReaction(first, "rocket");

  const [opened] = github.pullRequests();
  expect(await gitHost.repositories.read(github.repo.fullName, opened?.branch ?? "", "notes.txt")).toBe(
    "hello\n",
  );
  expect(answer).toContain("The agent's work was on the branch `side`; it is in the pull request.");
  expect((await api.getRun(issue.runId)).outcome).not.toHaveProperty("refused");

  const second = await issue.comment("@errand shell head -c 11000000 /dev/zero > model.bin");
  await issue.untilCard("Done, but files are missing", /model\.bin/);
  const [, missing = ""] = await issue.untilAnswers(2);
  await issue.untilReaction(second, "confused");

  expect(missing.match(/Larger than 10 MiB[^`]*`model\.bin`/g)).toHaveLength(1);
  expect(await api.getRun(issue.runId)).toMatchObject({
    state: "SUCCEEDED",
    warnings: [expect.stringContaining("`side`"), expect.stringContaining("`model.bin`")],
    outcome: {
      summary: expect.stringMatching(/^Done, but files are missing: Errand says: Larger than 10 MiB/),
      refused: [{ what: "file", by: "Errand", message: expect.stringContaining("`model.bin`") }],
    },
  });
  await fixture.checkInvariants();
});
