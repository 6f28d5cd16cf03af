import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { GithubIssue } from "./github-issue.ts";
import { Fixture, TEST_LIMIT_MS } from "./service-fixture.ts";

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
