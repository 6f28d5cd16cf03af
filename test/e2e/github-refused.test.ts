import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { waitFor } from "../support/wait-for.ts";
import { GithubIssue } from "./github-issue.ts";
import { Fixture, TEST_LIMIT_MS, WAIT_LIMIT_MS } from "./service-fixture.ts";

vi.setConfig({ testTimeout: TEST_LIMIT_MS });

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.openWithGit();
});
afterAll(() => fixture?.close());

/** What the host says, as a frame on a terminal. */
const HOOK = `#!/bin/sh
printf '\\033[31m======================\\033[0m\\n\\nGH006: Protected branch update failed.\\n\\n======================\\n' >&2
exit 1
`;

test("a run whose push the host refuses says so everywhere, and the next turn pushes beside a branch errand", async () => {
  const { api, github, gitHost } = fixture;
  const repository = gitHost.repositories.pathOf(github.repo.fullName);
  const hook = join(repository, "hooks", "pre-receive");
  await writeFile(hook, HOOK, { mode: 0o755 });
  const issue = await GithubIssue.open(fixture);

  const request = await issue.comment("@errand write notes.txt hello");
  const card = await issue.untilCard("Done, but not pushed", /GH006: Protected branch update failed/);
  const [answer = ""] = await issue.untilAnswers(1);

  const run = await api.getRun(issue.runId);
  const host = new URL(fixture.githubGate.url).host;
  expect(run).toMatchObject({
    state: "SUCCEEDED",
    status_message: { message: `Done, but not pushed.\n${host}: GH006: Protected branch update failed.` },
    outcome: {
      summary: `Done, but not pushed: ${host} says: GH006: Protected branch update failed.`,
      changes: { files: expect.any(Number), additions: expect.any(Number), deletions: 0 },
      refused: [
        {
          what: "push",
          by: host,
          message: "GH006: Protected branch update failed.",
          patch_url: expect.stringMatching(/\/sessions\/[\w-]+\?tab=changes$/),
        },
      ],
    },
  });
  expect(answer).toContain("GH006: Protected branch update failed.");
  const shown = JSON.stringify([run, card.body, answer, await api.events(issue.runId)]);
  expect(shown).not.toMatch(/remote:|hint:|failed to push|\/git\/acme|={5}|u001b/);
  await issue.untilReaction(request, "confused");
  expect(github.calls("POST", /\/reactions$/).map(({ body }) => body)).not.toContainEqual({
    content: "rocket",
  });
  expect(github.pullRequests()).toEqual([]);

  await rm(hook);
  await promisify(execFile)("git", ["--git-dir", repository, "branch", "errand"]);
  await issue.comment("@errand say nothing else");
  await issue.untilCard("Done", /Its pull request:/);

  const [opened] = github.pullRequests();
  expect(opened?.branch).toMatch(/^errand-[\da-f]{12}/);
  expect(await gitHost.repositories.read(github.repo.fullName, opened?.branch ?? "", "notes.txt")).toBe(
    "hello\n",
  );
  expect((await api.getRun(issue.runId)).outcome).not.toHaveProperty("refused");
  await fixture.checkInvariants();
});

const PROTECTS_ONE = `#!/bin/sh
while read -r from to ref; do
  if [ "$ref" = refs/heads/feature ]; then
    echo 'GH006: Protected branch update failed for refs/heads/feature.' >&2
    exit 1
  fi
done
`;

test("work for a protected branch comes as suggestions if it fits the pull request, otherwise as a pull request", async () => {
  const { github, gitHost } = fixture;
  const { fullName } = github.repo;
  const head = await gitHost.repositories.commitAt("refs/heads/feature", fullName, { "words.txt": "helo\n" });
  const opened = await github.openPullRequest("wendy", { title: "Words", body: "Some.", branch: "feature" });
  github.moveHead(opened.number, head);
  github.reviews.files.set(opened.number, [{ filename: "words.txt", patch: "@@ -0,0 +1 @@\n+helo" }]);
  const before = github.pullRequests().length;
  await writeFile(join(gitHost.repositories.pathOf(fullName), "hooks", "pre-receive"), PROTECTS_ONE, {
    mode: 0o755,
  });
  const pull = new GithubIssue(fixture, opened.number);

  await pull.comment("@errand write words.txt hello\nshell rm -f ERRAND-REPORT.md");
  await pull.untilCard("Done", /refuses it: GH006/);
  const [review] = await waitFor(
    async () => {
      const reviews = await github.reviewsOf(opened.number);
      return reviews.length > 0 && reviews;
    },
    { what: "the suggestions", timeoutMs: WAIT_LIMIT_MS },
  );
  expect(review?.body).toMatch(/is a suggestion on its lines.*refuses it: GH006.*new pr=draft/s);
  expect(github.reviewThreads.threads(opened.number).map(({ comment }) => comment.body)).toEqual([
    "```suggestion\nhello\n```",
  ]);
  expect(github.pullRequests()).toHaveLength(before);

  await pull.comment("@errand write other.txt hello");
  const answer = (await pull.untilAnswers(1)).at(-1);
  expect(answer).toMatch(
    /its rules refuse the push \(GH006[^)]*\)\. It is in a pull request into that branch/,
  );
  expect(github.pullRequests()).toHaveLength(before + 1);
});
