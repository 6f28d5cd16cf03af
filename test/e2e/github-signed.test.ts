import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { runGit } from "../support/change-harness.ts";
import { GithubIssue } from "./github-issue.ts";
import { Fixture, TEST_LIMIT_MS } from "./service-fixture.ts";

vi.setConfig({ testTimeout: TEST_LIMIT_MS });

const FILE = ".github/errand.yml";
const COMMITS = /\/git\/commits$/;
/** The demo agent writes one in a repository that has none. */
const WITHOUT_REPORT = "rm -f ERRAND-REPORT.md";

/** A ruleset of GitHub's, as a hook. */
const REQUIRES_SIGNATURES = `#!/bin/sh
while read -r old new ref; do
  for each in $(git rev-list "$new" --not --all); do
    git cat-file commit "$each" | grep -q '^gpgsig ' || {
      echo "GH013: Repository rule violations. Commits must have verified signatures." >&2
      exit 1
    }
  done
done
`;

let fixture: Fixture;
let path: string;

beforeAll(async () => {
  fixture = await Fixture.openWithGit();
  path = fixture.gitHost.repositories.pathOf(fixture.github.repo.fullName);
  fixture.github.gitData.repository = path;
  const file = "pull_request:\n  sign: api\n  signoff: true\n";
  await fixture.sendGithub(await fixture.github.commitFile(FILE, file));
  await fixture.dispositions(1);
});
beforeEach(() => fixture.github.faults.clear());
afterAll(() => fixture?.close());

interface Commit {
  readonly id: string;
  readonly text: string;
}

/** The commits of the newest pull request, oldest first. */
async function commitsOf(branch: string): Promise<readonly Commit[]> {
  const ids = await runGit(path, ["rev-list", "--reverse", `main..${branch}`]);
  const read = async (id: string) => ({ id, text: await runGit(path, ["cat-file", "commit", id]) });
  return Promise.all(ids.trim().split("\n").map(read));
}

function branchNow(): string {
  return fixture.github.pullRequests().at(-1)?.branch ?? "";
}

function made(): number {
  return fixture.github.calls("POST", COMMITS).length;
}

test("the commits of two turns are signed by GitHub, name the person and the App, and follow each other", async () => {
  const { api, github } = fixture;
  const issue = await GithubIssue.open(fixture);
  const work = "echo 1 > a.txt && git add -A && git commit -qm One && echo 2 > b.txt";

  await issue.comment(`@errand shell ${WITHOUT_REPORT} && ${work}`);
  await issue.untilAnswers(1);
  const first = await commitsOf(branchNow());
  await issue.comment(`@errand shell ${WITHOUT_REPORT} && git log --format=%H -1 > c.txt`);
  await issue.untilAnswers(2);
  const second = await commitsOf(branchNow());

  expect(first).toHaveLength(2);
  expect(second.slice(0, 2)).toEqual(first);
  expect((await runGit(path, ["show", `${branchNow()}:c.txt`])).trim()).toBe(first[1]?.id);
  expect(second).toHaveLength(3);
  expect(made()).toBe(3);
  const bot = `${github.app.botLogin} <${github.app.botUserId}+${github.app.botLogin}@users.noreply.127.0.0.1>`;
  for (const { text } of second) {
    expect(text).toContain("\ngpgsig ");
    expect(text).toContain(`author ${bot} `);
    expect(text).toMatch(/^Co-authored-by: wendy <\d+\+wendy@users\.noreply\./m);
    expect(text).toContain(`\nSigned-off-by: ${bot}`);
  }
  expect(github.pullRequests().filter(({ branch }) => branch === branchNow())).toHaveLength(1);
  const shown = await api.getRun(issue.runId);
  expect(JSON.stringify(shown)).not.toContain("did not sign");
  await fixture.checkInvariants();
});

test("GitHub fails once between the commits: they are made once more, and the branch moves once", async () => {
  const { github } = fixture;
  github.faults.next({ kind: "502", method: "POST", path: COMMITS });
  github.faults.next({ kind: "drop-after-write", method: "POST", path: COMMITS });
  const issue = await GithubIssue.open(fixture);

  await issue.comment(`@errand shell ${WITHOUT_REPORT} && echo 1 > a.txt`);
  const [answer] = await issue.untilAnswers(1);

  const commits = await commitsOf(branchNow());
  expect(commits).toHaveLength(1);
  expect(commits[0]?.text).toContain("\ngpgsig ");
  expect(answer).not.toContain("did not sign");
});

test.each([
  [403, "Resource not accessible by integration"],
  [409, "Git Repository is empty."],
  [422, "tree.path contains a malformed path component"],
])(
  "if GitHub refuses with %i, the work is pushed without signatures, and the answer says why",
  async (status, message) => {
    const { github } = fixture;
    github.faults.next({ kind: "refused", method: "POST", path: /\/git\/trees$/, status, message });
    const issue = await GithubIssue.open(fixture);

    await issue.comment(`@errand shell ${WITHOUT_REPORT} && echo 1 > a.txt`);
    const [answer] = await issue.untilAnswers(1);

    expect(answer).toContain("did not sign the new commits in acme/widgets, because GitHub answered");
    expect(answer).toContain(message.replace(/\.$/, ""));
    const commits = await commitsOf(branchNow());
    expect(commits).toHaveLength(1);
    expect(commits[0]?.text).not.toContain("\ngpgsig ");
  },
);

test("a branch that requires signatures takes the signed commits and refuses others, and the answer says why", async () => {
  const { github } = fixture;
  const hook = join(path, "hooks/pre-receive");
  await writeFile(hook, REQUIRES_SIGNATURES, { mode: 0o755 });
  try {
    const issue = await GithubIssue.open(fixture);
    await issue.comment(`@errand shell ${WITHOUT_REPORT} && echo 1 > a.txt`);
    await issue.untilCard("Done");
    const before = await commitsOf(branchNow());
    github.gitData.unsigned = "unsigned";
    await issue.comment(`@errand shell ${WITHOUT_REPORT} && echo 2 > a.txt`);
    const card = await issue.untilCard("Done, but not pushed");

    expect(before[0]?.text).toContain("\ngpgsig ");
    expect(await commitsOf(branchNow())).toEqual(before);
    expect(card.body).toContain("Commits must have verified signatures.");
    const [, answer] = await issue.untilAnswers(2);
    expect(answer).toContain("did not sign the new commits in acme/widgets, because GitHub says: unsigned.");
  } finally {
    github.gitData.unsigned = undefined;
    await rm(hook);
  }
});

test("a push of another person is not overwritten, and the answer says what to do", async () => {
  const { github, gitHost } = fixture;
  const issue = await GithubIssue.open(fixture);
  await issue.comment(`@errand shell ${WITHOUT_REPORT} && echo 1 > a.txt`);
  await issue.untilAnswers(1);
  const branch = branchNow();
  const other = await gitHost.repositories.commitAt(`refs/heads/${branch}`, github.repo.fullName, {
    "other.txt": "x\n",
  });

  await issue.comment(`@errand shell ${WITHOUT_REPORT} && echo 2 > a.txt`);
  const card = await issue.untilCard("Done, but not pushed");

  expect(card.body).toContain("has commits of other people that the run does not have");
  expect((await runGit(path, ["rev-parse", branch])).trim()).toBe(other);
});
