import { beforeEach, describe, expect, test } from "vitest";
import { FIRST_TEAM } from "../../../../src/core/people/team.ts";
import { ADDRESS, IntakeHarness, KEY } from "./inbox-harness.ts";

let harness: IntakeHarness;
beforeEach(async () => {
  harness = new IntakeHarness();
  await harness.start();
});

const OFF = "This integration is not switched on here. An administrator of the server can do that.";

async function switchInstallation(enabled: boolean): Promise<void> {
  const { installations } = harness.storage;
  await installations.update({ ...(await installations.ensure("memory", "here")), enabled });
}

describe("an installation that is switched off", () => {
  test("has its messages refused, with the reason said in the thread, and nothing done", async () => {
    await switchInstallation(false);

    expect(await harness.receive({ text: "Fix it" })).toBe("refused");

    expect(harness.repliesShown()).toEqual([OFF]);
    expect(harness.agents.starts).toEqual([]);
    expect(await harness.storage.people.list(FIRST_TEAM)).toEqual([]);
  });

  test("is not asked whether the author may", async () => {
    await switchInstallation(false);
    harness.adapter.refused.set("memory:Ada", "You are not of the team.");

    await harness.receive({ text: "Fix it" });

    expect(harness.repliesShown()).toEqual([OFF]);
  });

  test("refuses replies in the thread of a run, without a public refusal", async () => {
    await harness.receive({ text: "Fix it" });
    await switchInstallation(false);

    expect(await harness.receive({ text: "and this", addressed: "reply" })).toBe("refused");

    expect(harness.agents.prompts).toEqual(["Fix it"]);
    expect(harness.repliesShown()).toEqual([]);
  });

  test("handles messages again once it is switched on", async () => {
    await switchInstallation(false);
    await harness.receive({ text: "Fix it" });
    await switchInstallation(true);

    expect(await harness.receive({ text: "Fix it" })).toBe("run_created");
  });
});

test("runs from an installation belong to its team, and so do the people who write there", async () => {
  const { installations, people, teams } = harness.storage;
  const teamId = crypto.randomUUID() as typeof FIRST_TEAM;
  await teams.put({ id: teamId, name: "Research", createdAt: harness.clock.now() });
  await installations.update({ ...(await installations.ensure("memory", "here")), teamId });

  await harness.receive({ text: "Fix it" });

  expect(await harness.currentRun()).toMatchObject({ teamId });
  expect((await people.list(teamId)).map(({ displayName }) => displayName)).toEqual(["Ada"]);
  expect(await people.list(FIRST_TEAM)).toEqual([]);
  expect(harness.adapter.thread(KEY)).not.toEqual([]);
  expect(await harness.storage.threads.find(ADDRESS)).toHaveProperty("runId");
});
