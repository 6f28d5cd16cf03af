import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { GithubIssue } from "./github-issue.ts";
import { Fixture, TEST_LIMIT_MS } from "./service-fixture.ts";
import { SlackThread } from "./slack-thread.ts";

vi.setConfig({ testTimeout: TEST_LIMIT_MS });

const ASKING = "ask; say Thanks.";

let fixture: Fixture;

/** Agents ask for permission only if the configuration says so. Here a rule says so for all runs. */
beforeAll(async () => {
  fixture = await Fixture.open();
  const match = { sources: ["API", "SLACK", "GITHUB_WEBHOOK"] };
  const rule = { name: "asking", match, config: { permission_policy: "ask" } };
  await fixture.api.call("POST", "/agent/routing-rules", rule);
});

afterAll(async () => {
  try {
    await fixture.checkInvariants();
  } finally {
    await fixture.close();
  }
});

describe.concurrent("a run that asks a question", () => {
  test("a question is answered by a button in Slack", async () => {
    const thread = await SlackThread.open(fixture, ASKING);
    const card = await thread.untilCard("Waiting for an answer");
    const [question] = thread.questions;

    expect(JSON.stringify(question?.blocks)).toMatch(/Go on with the next step.*Allow.*Reject/s);
    expect(JSON.stringify(card.blocks)).toMatch(/The agent asks a question\. <http[^|]*\|Answer it>/);
    expect(JSON.stringify(card.blocks)).not.toMatch(/Go on with the next step|errand_permission/);

    await thread.press("Allow");

    expect(await thread.untilAnswers(1)).toEqual([expect.stringMatching(/You chose: allow.*Thanks\./s)]);
    await thread.untilCard("Succeeded");
    const [answered, ...others] = thread.questions;
    expect(others).toEqual([]);
    expect(JSON.stringify(answered?.blocks)).toContain("Answered: Allow.");
    expect(answered?.blocks.some(({ type }) => type === "actions")).toBe(false);
  });

  test("a question is answered in words in Slack", async () => {
    const thread = await SlackThread.open(fixture, ASKING);
    await thread.untilCard("Waiting for an answer");

    await thread.reply("yes");

    expect((await thread.untilAnswers(1)).at(-1)).toContain("Thanks.");
    await thread.untilCard("Succeeded");
  });

  test("a question is refused in words on GitHub", async () => {
    const issue = await GithubIssue.open(fixture);
    await issue.comment(`@errand ${ASKING}`);
    await issue.untilCard("Waiting for an answer");

    await issue.comment("@errand reject");
    const [answer] = await issue.untilAnswers(1);

    expect(issue.questions).toEqual([expect.stringMatching(/@wendy \*\*[\s\S]*Go on with the next step/)]);
    expect(answer).toContain("I stop here.");
    expect(answer).not.toContain("Thanks.");
  });

  test("a question is answered by a follow-up over REST", async () => {
    const runId = await fixture.api.createRun(ASKING);
    await fixture.api.waitForState(runId, "BLOCKED");

    await fixture.api.followUp(runId, "allow");
    await fixture.api.waitForState(runId, "SUCCEEDED");

    expect(
      String((await fixture.api.events(runId)).findLast(({ kind }) => kind === "turn.ended")?.answer),
    ).toContain("Thanks.");
  });
});
