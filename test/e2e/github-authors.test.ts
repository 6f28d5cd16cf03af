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
  test("the words of an author who lost write access wait until a person who can push ticks the box", async () => {
    const { github } = fixture;
    const issue = await GithubIssue.open(fixture);
    const first = await github.commentAs("wendy", issue.number, "@errand say hi");
    github.setPermission("wendy", "read");

    await fixture.sendGithub(first);

    expect(await fixture.dispositions(1)).toEqual(["run_created"]);
    await issue.untilCard("Waiting for approval", /^- \[ \] Approve /m);
    expect(issue.answers).toEqual([]);
    // Nobody may change a comment of the bot who cannot push. Should it happen nevertheless, it approves nothing.
    await tick(issue, github.reader.login);
    expect(await fixture.dispositions(1)).toEqual(["refused"]);
    await tick(issue, github.owner.login);

    await issue.untilAnswers(1);
    await issue.untilCard("Done");
    expect(await fixture.dispositions(1)).toEqual(["answered"]);
    expect(issue.answers).toEqual([expect.stringContaining("hi")]);
  });

  test("an author who lost write access after the start steers the run only with an approval", async () => {
    const issue = await GithubIssue.open(fixture);
    await issue.comment("@errand say ready");
    await issue.untilAnswers(1);
    await issue.untilCard("Done");
    fixture.github.setPermission("wendy", "read");

    await issue.comment("@errand say more");
    await issue.untilCard("Done", /This follow-up waits for approval[\s\S]*say more[\s\S]*- \[ \] Approve/);
    expect(issue.answers).toHaveLength(1);
    await tick(issue, fixture.github.owner.login);

    await issue.untilAnswers(2);
    expect(issue.answers[1]).toContain("more");
    await issue.untilCard("Done");
  });
});

/** Ticks the box in the newest card, as GitHub's page does: by an edit of the comment. A ticked one is unticked before. */
async function tick(issue: GithubIssue, login: string): Promise<void> {
  const { github } = fixture;
  const card = issue.cards.at(-1);
  if (card === undefined) {
    throw new Error("The issue has no card.");
  }
  const unticked = card.body.replace("- [x] Approve", "- [ ] Approve");
  const payload = { comment: { body: unticked } };
  const shown = { id: card.id, number: issue.number, event: "issue_comment", payload } as const;
  const ticked = unticked.replace("- [ ] Approve", "- [x] Approve");
  await fixture.sendGithub(await github.editAs(login, shown, ticked));
}

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
