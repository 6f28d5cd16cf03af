import { beforeEach, describe, expect, test } from "vitest";
import { FIRST_TEAM } from "../../../../../src/core/model/people/team.ts";
import { ADDRESS, InboxHarness, KEY } from "./inbox-harness.ts";

let harness: InboxHarness;
beforeEach(async () => {
  harness = new InboxHarness();
  await harness.start();
});

const OFF = "This integration is not switched on here. An administrator of the server can do that.";

async function switchInstallation(enabled: boolean): Promise<void> {
  const { installations } = harness.storage;
  await installations.update({ ...(await installations.ensure("memory", "here")), enabled });
}

describe("an installation that is switched off", () => {
  test("messages to a disabled installation are refused with a reason and have no effect", async () => {
    await switchInstallation(false);

    expect(await harness.receive({ text: "Fix it" })).toBe("refused");

    expect(harness.repliesShown()).toEqual([OFF]);
    expect(harness.agents.starts).toEqual([]);
    expect(await harness.storage.people.list(FIRST_TEAM)).toEqual([]);
  });

  test("the permissions of an author are not checked in a disabled installation", async () => {
    await switchInstallation(false);
    harness.adapter.refused.set("memory:Ada", "You are not of the team.");

    await harness.receive({ text: "Fix it" });

    expect(harness.repliesShown()).toEqual([OFF]);
  });

  test("replies in a thread of a disabled installation are refused without a public message", async () => {
    await harness.receive({ text: "Fix it" });
    await switchInstallation(false);

    expect(await harness.receive({ text: "and this", addressed: "reply" })).toBe("refused");

    expect(harness.agents.prompts).toEqual(["Fix it"]);
    expect(harness.repliesShown()).toEqual([]);
  });

  test("a disabled installation handles messages again once it is enabled", async () => {
    await switchInstallation(false);
    await harness.receive({ text: "Fix it" });
    await switchInstallation(true);

    expect(await harness.receive({ text: "Fix it" })).toBe("run_created");
  });
});

test("runs from an installation and their authors belong to the team of the installation", async () => {
  const { installations, people, teams } = harness.storage;
  const teamId = crypto.randomUUID() as typeof FIRST_TEAM;
  await teams.put({ id: teamId, name: "Research", createdAt: harness.clock.now(), sharing: "off" });
  await installations.update({ ...(await installations.ensure("memory", "here")), teamId });

  await harness.receive({ text: "Fix it" });

  expect(await harness.currentRun()).toMatchObject({ teamId });
  expect((await people.list(teamId)).map(({ displayName }) => displayName)).toEqual(["Ada"]);
  expect(await people.list(FIRST_TEAM)).toEqual([]);
  expect(harness.adapter.thread(KEY)).not.toEqual([]);
  expect(await harness.storage.threads.find(ADDRESS)).toHaveProperty("runId");
});
