import { beforeEach, describe, expect, test } from "vitest";
import { FIRST_TEAM } from "../../../../src/core/people/team.ts";
import { ADDRESS, IntakeBench, KEY } from "./intake-bench.ts";

let bench: IntakeBench;
beforeEach(async () => {
  bench = new IntakeBench();
  await bench.start();
});

const OFF = "This integration is not switched on here. An administrator of the server can do that.";

async function switchInstallation(enabled: boolean): Promise<void> {
  const { installations } = bench.storage;
  await installations.update({ ...(await installations.ensure("memory", "here")), enabled });
}

describe("an installation that is switched off", () => {
  test("has its messages refused, with the reason said in the thread, and nothing done", async () => {
    await switchInstallation(false);

    expect(await bench.receive({ text: "Fix it" })).toBe("refused");

    expect(bench.repliesShown()).toEqual([OFF]);
    expect(bench.agents.starts).toEqual([]);
    expect(await bench.storage.people.list(FIRST_TEAM)).toEqual([]);
  });

  test("is not asked whether the author may", async () => {
    await switchInstallation(false);
    bench.adapter.refused.set("memory:Ada", "You are not of the team.");

    await bench.receive({ text: "Fix it" });

    expect(bench.repliesShown()).toEqual([OFF]);
  });

  test("refuses what goes on in the thread of a run, without telling anybody off who named nobody", async () => {
    await bench.receive({ text: "Fix it" });
    await switchInstallation(false);

    expect(await bench.receive({ text: "and this", addressed: "reply" })).toBe("refused");

    expect(bench.agents.prompts).toEqual(["Fix it"]);
    expect(bench.repliesShown()).toEqual([]);
  });

  test("is heard again once it is on", async () => {
    await switchInstallation(false);
    await bench.receive({ text: "Fix it" });
    await switchInstallation(true);

    expect(await bench.receive({ text: "Fix it" })).toBe("run_created");
  });
});

test("runs from an installation belong to its team, and so do the people who write there", async () => {
  const { installations, people, teams } = bench.storage;
  const teamId = crypto.randomUUID() as typeof FIRST_TEAM;
  await teams.put({ id: teamId, name: "Research", createdAt: bench.clock.now() });
  await installations.update({ ...(await installations.ensure("memory", "here")), teamId });

  await bench.receive({ text: "Fix it" });

  expect(await bench.currentRun()).toMatchObject({ teamId });
  expect((await people.list(teamId)).map(({ displayName }) => displayName)).toEqual(["Ada"]);
  expect(await people.list(FIRST_TEAM)).toEqual([]);
  expect(bench.adapter.thread(KEY)).not.toEqual([]);
  expect(await bench.storage.threads.find(ADDRESS)).toHaveProperty("runId");
});
