import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { GithubIssue } from "./github-issue.ts";
import { Fixture, TEST_LIMIT_MS } from "./service-fixture.ts";

vi.setConfig({ testTimeout: TEST_LIMIT_MS });

/** The demo agent writes one in a repository that has none. */
const WITHOUT_REPORT = "rm -f ERRAND-REPORT.md";

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.openWithGit();
});
afterAll(() => fixture?.close());

test.each(["merged", "closed"] as const)(
  "after its pull request was %s, a run begins at the head of the base, on a new branch, and says so",
  async (state) => {
    const { api, github, gitHost } = fixture;
    const { fullName } = github.repo;
    const file = `${state}.txt`;
    const issue = await GithubIssue.open(fixture);
    await issue.comment(`@errand shell ${WITHOUT_REPORT} && echo hello > ${file}`);
    await issue.untilAnswers(1);
    const first = github.pullRequests().at(-1);
    expect(await gitHost.repositories.diff(fullName, first?.branch ?? "")).toContain("+hello");

    const squashed = state === "merged" ? { [file]: "hello\n" } : {};
    const head = await gitHost.repositories.commit(fullName, { "other.txt": `${state}\n`, ...squashed });
    await github.endPullRequest(first?.number ?? 0, state);
    await issue.comment(`@errand shell ${WITHOUT_REPORT} && cat other.txt && echo more >> ${file}`);
    const [, answer = ""] = await issue.untilAnswers(2);

    const second = github.pullRequests().at(-1);
    expect(second?.branch).toBe(`${first?.branch}-2`);
    expect(second?.number).not.toBe(first?.number);
    const diff = await gitHost.repositories.diff(fullName, second?.branch ?? "");
    expect(diff.match(/^[+-][^+-].*$/gm)).toEqual(["+more"]);
    expect(answer).toContain(
      `/pull/${first?.number} was ${state}, so the work began at the commit ${head.slice(0, 8)}`,
    );
    expect(await api.getRun(issue.runId)).toMatchObject({
      state: "SUCCEEDED",
      warnings: [expect.stringContaining(`was ${state}`)],
    });

    await issue.comment(`@errand shell ${WITHOUT_REPORT} && echo again >> ${file}`);
    await issue.untilAnswers(3);

    expect(github.pullRequests().at(-1)?.number).toBe(second?.number);
    const continued = await gitHost.repositories.diff(fullName, second?.branch ?? "");
    expect(continued.match(/^[+-][^+-].*$/gm)).toEqual(["+more", "+again"]);
    await fixture.checkInvariants();
  },
);

test("a run that continues another one whose pull request was merged begins at the head of the base", async () => {
  const { github, gitHost } = fixture;
  const { fullName } = github.repo;
  const file = "continued.txt";
  const issue = await GithubIssue.open(fixture);
  await issue.comment(`@errand shell ${WITHOUT_REPORT} && echo hello > ${file}`);
  await issue.untilAnswers(1);
  const first = github.pullRequests().at(-1);
  await gitHost.repositories.commit(fullName, { [file]: "hello\n", "other.txt": "new\n" });
  await github.endPullRequest(first?.number ?? 0, "merged");

  await issue.comment("@errand new shell rm -f ERRAND-REPORT.md && cat other.txt && echo more >> notes.txt");
  await issue.untilAnswers(2);

  const second = github.pullRequests().at(-1);
  expect(second?.number).not.toBe(first?.number);
  const diff = await gitHost.repositories.diff(fullName, second?.branch ?? "");
  expect(diff.match(/^[+-][^+-].*$/gm)).toEqual(["+more"]);
});
