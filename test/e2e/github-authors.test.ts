import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { waitFor } from "../support/wait-for.ts";
import { GithubIssue } from "./github-issue.ts";
import { Fixture, TEST_LIMIT_MS, WAIT_LIMIT_MS } from "./service-fixture.ts";

vi.setConfig({ testTimeout: TEST_LIMIT_MS });

/** The tests run one after another, because the invariants are checked after each. */
let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.open({ ERRAND_SANDBOX: "local" });
});
afterEach(async () => {
  fixture.github.setPermission("wendy", "write");
  fixture.github.faults.clear();
  await fixture.checkInvariants();
});
afterAll(() => fixture?.close());

describe("programs that write to each other", () => {
  test("a bot with write access, also one that repeats each comment of the App, starts nothing and gets no answer", async () => {
    const { github } = fixture;
    const issue = await GithubIssue.open(fixture);
    await issue.comment("@errand say ready");
    await issue.untilCard("Done");
    await issue.untilAnswers(1);
    const before = issue.comments;

    for (const { body } of [...before, { body: "say again" }]) {
      await issue.comment(`@errand ${body}`, github.otherBot.login);
    }

    expect(await fixture.dispositions(before.length + 1)).toEqual(Array(before.length + 1).fill("refused"));
    expect(issue.comments).toHaveLength(before.length);
    expect(await fixture.followUpsOf(issue.runId)).toEqual([]);
  });

  test("the App's own comments start nothing, although they name the App", async () => {
    const { github } = fixture;
    const issue = await GithubIssue.open(fixture);
    await issue.comment("@errand say ready");
    await issue.untilAnswers(1);
    await issue.untilCard("Done");
    const [own] = github
      .comments(github.repo.fullName, issue.number)
      .filter(({ author }) => author === github.app.botLogin);
    const user = { id: github.app.botUserId, login: github.app.botLogin, type: "Bot" };
    const comment = { id: own?.id, body: "@errand say again", user, html_url: "https://github.example/c" };

    const written = await github.recordedComment({ comment, number: issue.number }, { sender: user });
    await fixture.sendGithub(written);

    expect(await fixture.dispositions(1)).toEqual(["refused"]);
    expect(await fixture.followUpsOf(issue.runId)).toEqual([]);
    expect(issue.answers).toHaveLength(1);
  });
});

describe("permissions that change", () => {
  test("an author who lost write access between the comment and its processing starts nothing, and is told so once", async () => {
    const { github } = fixture;
    const issue = await GithubIssue.open(fixture);
    const first = await github.commentAs("wendy", issue.number, "@errand say hi");
    const second = await github.commentAs("wendy", issue.number, "@errand say hi again");
    github.setPermission("wendy", "read");

    await fixture.sendGithub(first);
    await fixture.sendGithub(second);

    expect(await fixture.dispositions(2)).toEqual(["refused", "refused"]);
    await issue.untilReply(/only from people who can write/);
    expect(issue.cards).toEqual([]);
    expect(issue.replies).toHaveLength(1);
  });

  test("an author who lost write access after the start no longer steers the run", async () => {
    const issue = await GithubIssue.open(fixture);
    await issue.comment("@errand say ready");
    await issue.untilAnswers(1);
    fixture.github.setPermission("wendy", "read");

    await issue.comment("@errand say more");

    expect(await fixture.dispositions(1)).toEqual(["refused"]);
    expect(await fixture.followUpsOf(issue.runId)).toEqual([]);
  });
});

test.each([
  [{ kind: "502" } as const],
  [{ kind: "429", retryAfterSeconds: 1 } as const],
  [{ kind: "drop-after-write" } as const],
])(
  "while GitHub does not say whether the author may write (%j), no run starts, and afterwards one does",
  async (fault) => {
    const { github } = fixture;
    const issue = await GithubIssue.open(fixture);
    const path = /\/collaborators\/wendy\/permission$/;
    const asked = () => github.calls("GET", path).filter(({ outcome }) => outcome === fault.kind).length;
    const before = asked();
    const end = github.faults.until({ method: "GET", path, ...fault });

    await issue.comment("@errand say hi");
    await waitFor(() => asked() - before >= 2, { what: "the second try", timeoutMs: WAIT_LIMIT_MS });
    const started = await fixture.runsFrom(issue);
    end();
    await issue.untilAnswers(1);
    await issue.untilCard("Done");

    expect(started).toEqual([]);
    expect(await fixture.runsFrom(issue)).toEqual([issue.runId]);
    expect([issue.cards.length, issue.answers.length, issue.replies.length]).toEqual([1, 1, 0]);
  },
);

test("a comment that another account edits after the mention keeps its signed text, and the edit steers nothing", async () => {
  const { github } = fixture;
  const issue = await GithubIssue.open(fixture);
  const signed = await github.commentAs("wendy", issue.number, "@errand say the signed words");
  const edited = await github.editAs("rob", signed, "@errand say OTHER-ORDERS");

  await fixture.sendGithub(signed);
  await fixture.sendGithub(edited);
  await issue.untilAnswers(1);
  await issue.untilCard("Done");

  expect(await fixture.dispositions(2)).toEqual(["refused", "run_created"]);
  expect(issue.answers).toEqual([expect.stringContaining("the signed words")]);
  expect(await fixture.followUpsOf(issue.runId)).toEqual([]);
  const run = [await fixture.api.getRun(issue.runId), await fixture.api.events(issue.runId)];
  expect(JSON.stringify(run)).not.toContain("OTHER-ORDERS");
});
