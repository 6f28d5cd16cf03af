import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import type { JsonRecord } from "../support/json.ts";
import { waitFor } from "../support/wait-for.ts";
import { GithubIssue } from "./github-issue.ts";
import { Fixture, TEST_LIMIT_MS, WAIT_LIMIT_MS } from "./service-fixture.ts";

vi.setConfig({ testTimeout: TEST_LIMIT_MS });

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.open({ ERRAND_SANDBOX: "local" }, { writesChecks: true });
});
afterEach(() => fixture.checkInvariants());
afterAll(() => fixture?.close());

async function untilCheck(shown: JsonRecord): Promise<JsonRecord> {
  const find = () => {
    const last = fixture.github.checkRuns.at(-1);
    return last &&
      Object.entries(shown).every(([name, value]) => JSON.stringify(last[name]) === JSON.stringify(value))
      ? last
      : undefined;
  };
  return waitFor(find, { what: `the check to be ${JSON.stringify(shown)}`, timeoutMs: WAIT_LIMIT_MS });
}

async function press(check: JsonRecord, identifier: string): Promise<void> {
  const { status } = await fixture.sendGithub(
    await fixture.github.pressAs("wendy", Number(check.id), identifier),
  );
  expect(status).toBe(202);
}

test("a run is a check of its pull request, which a person stops and lets repair others by its buttons", async () => {
  const issue = await GithubIssue.open(fixture);
  await issue.comment("@errand write notes.txt hello");
  const card = await issue.untilCard("Done", /Its pull request:/);
  const pull = new GithubIssue(fixture, Number(/\/pull\/(\d+)/.exec(card.body)?.[1]));
  await untilCheck({ status: "completed", conclusion: "success" });

  await pull.comment("@errand sleep 600");
  await pull.untilCard("Working");
  await press(await untilCheck({ status: "in_progress" }), "stop");
  await pull.untilCard("Cancelled");
  await untilCheck({ status: "completed", conclusion: "neutral" });

  // Nobody repairs a run that was stopped, except a person who asks for it.
  await fixture.sendGithub(await fixture.github.failCheck(pull.number, "tests"));
  const red = await waitFor(
    () => fixture.github.checkRuns.find(({ actions }) => /fix/.test(JSON.stringify(actions))),
    {
      what: "the button that repairs",
      timeoutMs: WAIT_LIMIT_MS,
    },
  );
  await press(red, "fix");
  await pull.untilCard("Done", /turn 3/);
  expect(JSON.stringify((await fixture.followUpsOf(issue.runId)).at(-1))).toContain(
    "The checks of the pull request fail.",
  );
  expect(fixture.github.checkRuns).toHaveLength(1);
});
