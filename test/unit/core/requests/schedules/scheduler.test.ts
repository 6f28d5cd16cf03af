import { beforeEach, describe, expect, test } from "vitest";
import { nextDue } from "../../../../../src/app/cron.ts";
import { AppError } from "../../../../../src/core/basics/errors.ts";
import type { Principal } from "../../../../../src/core/model/people/principal.ts";
import type { ListedRun, RunConfig } from "../../../../../src/core/model/runs/run.ts";
import type { Schedule } from "../../../../../src/core/model/schedules/schedule.ts";
import type { Quota } from "../../../../../src/core/model/usage/quota.ts";
import type { Environment } from "../../../../../src/core/model/workspaces/environment.ts";
import {
  type NewSchedule,
  ScheduleService,
} from "../../../../../src/core/requests/schedules/schedule-service.ts";
import { Scheduler } from "../../../../../src/core/requests/schedules/scheduler.ts";
import { CoreHarness } from "../../../../support/core-harness.ts";
import { anEnvironment } from "../../../../support/environment-builders.ts";
import { SILENT_LOG } from "../../../../support/logs.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { aPolicy } from "../../../../support/rule-builders.ts";

const MINUTE_MS = 60_000;
const WANTED: NewSchedule = {
  name: "Nightly",
  cron: "* * * * *",
  enabled: true,
  prompt: "Tidy up",
  config: { model_id: "m" },
  metadata: { ticket: "OPS-1" },
  teamOwned: true,
};

let harness: CoreHarness;
let ada: Principal;
let service: ScheduleService;
let scheduler: Scheduler;
beforeEach(async () => {
  harness = new CoreHarness();
  ada = await harness.person("Ada");
  service = new ScheduleService({ storage: harness.storage, clock: harness.clock, nextDue });
  scheduler = newScheduler();
  await harness.queue.work("schedule", 4, (id) => scheduler.fire(id));
});

describe("a schedule", () => {
  test("a schedule starts a run at each due time in its creator's name", async () => {
    const { id } = await service.create(ada, WANTED);

    await harness.clock.advance(2 * MINUTE_MS);

    const [, first] = await runs();
    expect(await runs()).toHaveLength(2);
    expect(first).toMatchObject({
      title: "Nightly",
      prompt: "Tidy up",
      source: "SCHEDULED_AGENT",
      creatorId: ada.id,
      scheduleId: id,
      triggerUrl: `http://here/schedules/${id}`,
      metadata: { ticket: "OPS-1" },
      config: { model_id: "m" },
      teamOwned: true,
      provenance: {
        schedule: { schedule_id: id, schedule_name: "Nightly", cron_schedule: "* * * * *" },
      },
    });
    expect(await service.get(ada, id)).toMatchObject({
      lastRanAt: new Date("2026-03-01T12:02:00.000Z"),
      nextRunAt: new Date("2026-03-01T12:03:00.000Z"),
    });
  });

  test("the runs of a schedule have its mode and are executed by its agent", async () => {
    const agent = await harness.person("Tidier");
    const { createdAt, id: agentUid, teamId } = agent;
    await harness.storage.namedAgents.add({
      ...{ id: agentUid, teamId, config: { base_prompt: "Tidy." }, secretNames: [] },
      ...{ onBehalfOfEnabled: false, others: {}, createdAt, updatedAt: createdAt },
    });
    await service.create(ada, { ...WANTED, mode: "plan", agentUid });

    await harness.clock.advance(MINUTE_MS);

    expect((await runs())[0]).toMatchObject({
      mode: "plan",
      creatorId: ada.id,
      executorId: agentUid,
      config: { base_prompt: "Tidy.", model_id: "m" },
    });
  });

  test("a schedule whose agent was deleted says so instead of starting a run", async () => {
    const agent = await harness.person("Tidier");
    const { createdAt, id: agentUid, teamId } = agent;
    await harness.storage.namedAgents.add({
      ...{ id: agentUid, teamId, config: {}, secretNames: [] },
      ...{ onBehalfOfEnabled: false, others: {}, createdAt, updatedAt: createdAt },
    });
    const { id } = await service.create(ada, { ...WANTED, agentUid });
    await harness.storage.namedAgents.remove(teamId, agentUid);

    await harness.clock.advance(MINUTE_MS);

    expect(await runs()).toEqual([]);
    expect((await service.get(ada, id)).lastSpawnError).toBe("There is no such agent.");
  });

  test("concurrent attempts fire each due time once", async () => {
    const { id } = await service.create(ada, WANTED);
    await harness.queue.stop(0);
    await harness.clock.advance(MINUTE_MS);

    const fire = () => newScheduler().fire(id);
    await Promise.all([fire(), fire(), fire(), scheduler.round()]);
    await scheduler.round();

    expect(await runs()).toHaveLength(1);
  });

  test("a schedule missed for hours fires once", async () => {
    await service.create(ada, WANTED);
    await harness.queue.stop(0);
    await harness.clock.advance(5 * 60 * MINUTE_MS);

    await scheduler.round();
    await scheduler.round();

    expect(await runs()).toHaveLength(1);
  });

  test("a schedule that is paused or removed before it fires does not fire", async () => {
    const [paused, removed] = [await service.create(ada, WANTED), await service.create(ada, WANTED)];
    await service.pause(ada, paused.id);
    await service.remove(ada, removed.id);

    await harness.clock.advance(3 * MINUTE_MS);
    await Promise.all([scheduler.fire(paused.id), scheduler.fire(removed.id), scheduler.round()]);

    expect(await runs()).toEqual([]);
  });

  test("a schedule that changes while its run is prepared does not fire its old version", async () => {
    const { id } = await service.create(ada, WANTED);
    await harness.queue.stop(0);
    await harness.clock.advance(MINUTE_MS);
    const prepare = harness.runs.preparer.prepare.bind(harness.runs.preparer);
    harness.runs.preparer.prepare = async (...args) => {
      await service.replace(ada, id, { ...WANTED, prompt: "Something else" });
      return prepare(...args);
    };

    await scheduler.fire(id);
    expect(await runs()).toEqual([]);
    harness.runs.preparer.prepare = prepare;
    await scheduler.round();

    expect(await runs()).toMatchObject([{ prompt: "Something else" }]);
  });
});

describe("the schedule of an administrator", () => {
  let chief: Principal;
  let bobs: Environment;
  beforeEach(async () => {
    chief = { ...(await harness.person("Chief")), administrator: true };
    await harness.storage.people.put(chief);
    bobs = { ...anEnvironment("env-bob", "acme/tools"), ownerId: (await harness.person("Bob")).id };
    await harness.storage.environments.add(bobs);
    harness.skills.put("acme/tools", { "SKILL.md": "Tidy up." });
  });

  test("an administrator's schedule is not stored in another user's environment", async () => {
    const config = { environment_id: bobs.id };
    const refused = { code: "resource_not_found", message: "There is no such environment." };
    const { id } = await service.create(ada, WANTED);

    await expect(service.create(chief, { ...WANTED, config })).rejects.toMatchObject(refused);
    await expect(service.replace(chief, id, { ...WANTED, config })).rejects.toMatchObject(refused);

    expect(await service.list(chief)).toMatchObject([{ id, config: WANTED.config }]);
  });

  test("a schedule may use its creator's environment, no matter who edits it", async () => {
    const own = { ...anEnvironment("env-ada"), ownerId: ada.id };
    await harness.storage.environments.add(own);
    const config = { environment_id: own.id };
    const { id } = await service.create(ada, WANTED);

    expect(await service.replace(chief, id, { ...WANTED, config })).toMatchObject({ config });
  });

  test.each<[string, RunConfig, RegExp]>([
    ["environment", { environment_id: "env-bob" }, /^There is no such environment\.$/],
    ["repositories", { skill_spec: "tools:SKILL.md" }, /^No environment of yours has a repository/],
  ])("an administrator's schedule starts nothing with another user's %s", async (_what, config, reason) => {
    await harness.storage.environments.replace({ ...bobs, ownerId: bobs.teamId });
    const { id } = await service.create(chief, { ...WANTED, config });
    await harness.storage.environments.replace(bobs);

    await harness.clock.advance(MINUTE_MS);

    expect(await runs()).toEqual([]);
    expect((await service.get(chief, id)).lastSpawnError).toMatch(reason);
  });
});

describe("a due time that starts no run", () => {
  test.each<[string, () => Promise<unknown>, RegExp]>([
    [
      "the creator is disabled",
      () => harness.storage.people.put({ ...ada, disabled: true }),
      /creator.*disabled/,
    ],
    [
      "a policy forbids it",
      () => harness.storage.policies.add(aPolicy({ match: { sources: ["SCHEDULED_AGENT"] }, reason: "No." })),
      /^No\.$/,
    ],
  ])(
    "a due time that starts no run because %s says so does not stop the next one",
    async (_why, forbid, reason) => {
      const { id } = await service.create(ada, WANTED);
      await forbid();

      await harness.clock.advance(MINUTE_MS);

      const schedule = await service.get(ada, id);
      expect(await runs()).toEqual([]);
      expect(schedule.lastSpawnError).toMatch(reason);
      expect(schedule.nextRunAt).toEqual(new Date("2026-03-01T12:02:00.000Z"));
      expect(schedule).not.toHaveProperty("lastRanAt");
    },
  );

  test("a due time waits while its creator is suspended, and fires once, late, when the creator is back", async () => {
    const { id } = await service.create(ada, WANTED);
    const suspended = { ...ada, disabled: true, suspendedAt: harness.clock.now() };
    await harness.storage.people.put(suspended);
    await harness.clock.advance(5 * MINUTE_MS);
    const waiting = await service.get(ada, id);
    const listed = await harness.storage.dueSchedules.list(10);
    await harness.storage.people.put(ada);

    await scheduler.round();
    await scheduler.round();

    const after = await service.get(ada, id);
    expect(waiting.lastSpawnError).toMatch(/creator.*signs in again/);
    expect([waiting.nextRunAt, listed]).toEqual([new Date("2026-03-01T12:01:00.000Z"), []]);
    expect(await runs()).toHaveLength(1);
    expect(after).not.toHaveProperty("lastSpawnError");
    expect(after.nextRunAt?.getTime()).toBeGreaterThan(harness.clock.now().getTime());
  });

  test("a due time during a failure fires late", async () => {
    const { id } = await service.create(ada, WANTED);
    const prepare = harness.runs.preparer.prepare.bind(harness.runs.preparer);
    let failures = 2;
    harness.runs.preparer.prepare = async (...args) => {
      failures -= 1;
      if (failures >= 0) {
        throw new AppError("resource_unavailable", "The host is away.");
      }
      return prepare(...args);
    };

    await harness.clock.advance(MINUTE_MS + 5_000);

    expect(await runs()).toHaveLength(1);
    expect(await service.get(ada, id)).not.toHaveProperty("lastSpawnError");
  });

  test("a run of a schedule waits for approval if a policy requires it", async () => {
    await service.create(ada, WANTED);
    await harness.storage.policies.add(aPolicy({ effect: "require_approval" }));

    await harness.clock.advance(MINUTE_MS);

    expect(await runs()).toMatchObject([{ state: "BLOCKED" }]);
  });

  test("a due time of one schedule that fails keeps no other schedule from firing", async () => {
    const [broken, whole] = [
      await service.create(ada, WANTED),
      await service.create(ada, { ...WANTED, name: "b" }),
    ];
    await harness.queue.stop(0);
    await harness.clock.advance(MINUTE_MS);
    const prepare = harness.runs.preparer.prepare.bind(harness.runs.preparer);
    harness.runs.preparer.prepare = async (request, from) => {
      if (request.scheduleId === broken.id) {
        throw new Error("a bug");
      }
      return prepare(request, from);
    };

    await scheduler.round();

    expect((await runs()).map(({ scheduleId }) => scheduleId)).toEqual([whole.id]);
  });
});

describe("a schedule of a team with quotas", () => {
  test("a schedule whose team has used up its runs of the day says so, and fires again on the next day", async () => {
    await setQuota({ name: "runs_per_day", scope: "team", limit: 1 });
    const { id } = await service.create(ada, { ...WANTED, cron: "0 * * * *" });

    await harness.clock.advance(2 * 60 * MINUTE_MS);
    const refused = await service.get(ada, id);
    await harness.clock.advance(10 * 60 * MINUTE_MS);

    expect(refused.lastSpawnError).toContain("runs_per_day of the team is used up: 1 of 1");
    expect(refused.nextRunAt).toEqual(new Date("2026-03-01T15:00:00.000Z"));
    expect((await runs()).map(({ createdAt }) => createdAt.toISOString().slice(0, 10))).toEqual([
      "2026-03-02",
      "2026-03-01",
    ]);
  });

  test("a due time that meets a full queue fires late, once the queue has room", async () => {
    await setQuota({ name: "queued_runs", scope: "team", limit: 1 });
    await service.create(ada, { ...WANTED, cron: "0 13 * * *" });
    const waiting = await harness.runs.create({ prompt: "wait", source: "API", creator: ada });

    await harness.clock.advance(61 * MINUTE_MS);
    expect(await runs()).toHaveLength(1);
    await harness.runs.cancel(waiting.id, ada);
    await scheduler.round();

    expect((await runs()).map(({ title }) => title)).toEqual(["Nightly", "wait"]);
  });

  function setQuota(quota: Quota): Promise<boolean> {
    return harness.storage.quotas.replace(ada.teamId, [quota]);
  }
});

describe("permissions to change a schedule", () => {
  test("the creator and administrators change a schedule, and a repeated change has no effect", async () => {
    const bob = await harness.person("Bob");
    const chief = { ...(await harness.person("Chief")), administrator: true };
    const { id } = await service.create(ada, WANTED);

    for (const change of [
      service.pause(bob, id),
      service.replace(bob, id, WANTED),
      service.remove(bob, id),
    ]) {
      await expect(change).rejects.toMatchObject({ code: "not_authorized" });
    }
    const paused = await service.pause(chief, id);
    await harness.clock.advance(1_000);

    expect(paused).toMatchObject({ enabled: false, creatorId: ada.id, lastEditorId: chief.id });
    expect(await service.pause(ada, id)).toEqual(paused);
  });

  test("a personal schedule of another user is not found", async () => {
    const bob = await harness.person("Bob");
    const { id } = await service.create(ada, { ...WANTED, teamOwned: false });

    await expect(service.pause(bob, id)).rejects.toMatchObject({ code: "resource_not_found" });
    await expect(service.get(bob, id)).rejects.toMatchObject({ code: "resource_not_found" });
    expect(await service.list(bob)).toEqual([]);
  });

  test("an invalid cron expression is refused at its field", async () => {
    const wrong = { code: "invalid_request", options: { issues: [{ path: "cron_schedule" }] } };

    await expect(service.create(ada, { ...WANTED, cron: "@daily" })).rejects.toMatchObject(wrong);
    expect(await service.list(ada)).toEqual([]);
  });
});

test("resuming a schedule that is not paused keeps an overdue time", async () => {
  const { id } = await service.create(ada, WANTED);
  await harness.queue.stop(0);
  await harness.clock.advance(10 * MINUTE_MS);

  expect((await service.resume(ada, id)).nextRunAt).toEqual(new Date("2026-03-01T12:01:00.000Z"));
});

function newScheduler(): Scheduler {
  const linkOf = (id: Schedule["id"]) => `http://here/schedules/${id}`;
  const { runs, storage } = harness;
  return new Scheduler({ storage, runs, nextDue, linkOf, log: SILENT_LOG });
}

/** Returns the runs, newest first. */
async function runs(): Promise<readonly ListedRun[]> {
  await quiet();
  const query = { viewer: { ...ada, administrator: true }, filters: {}, limit: 100 };
  return (await harness.runs.list({ ...query, sort: "created_at", order: "desc" })).runs;
}
