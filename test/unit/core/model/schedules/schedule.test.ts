import { describe, expect, test } from "vitest";
import { nextDue } from "../../../../../src/app/cron.ts";
import { isOpenTo, ownedOf } from "../../../../../src/core/model/people/ownership.ts";
import { fired, type Schedule, timed } from "../../../../../src/core/model/schedules/schedule.ts";
import { aSchedule } from "../../../../support/rule-builders.ts";
import { aPrincipal } from "../../../../support/run-builders.ts";

const at = (time: string) => new Date(`2026-03-01T${time}.000Z`);
const timing = (time: string) => ({ now: at(time), nextDue });

describe("an edited schedule", () => {
  test("an edited schedule is next due at the first matching time from now", () => {
    expect(timed(aSchedule(), undefined, timing("12:01:00")).nextRunAt).toEqual(at("12:05:00"));
  });

  test("an edited schedule keeps a missed time unless its expression changes", () => {
    const before = aSchedule({ nextRunAt: at("11:00:00") });

    expect(timed({ ...before, prompt: "x" }, before, timing("12:01:00")).nextRunAt).toEqual(at("11:00:00"));
    expect(timed({ ...before, cron: "0 * * * *" }, before, timing("12:01:00")).nextRunAt).toEqual(
      at("13:00:00"),
    );
  });

  test("a paused schedule has no due time, and missed times are not made up when it is resumed", () => {
    const before = aSchedule({ nextRunAt: at("11:00:00") });

    const paused = timed({ ...before, enabled: false }, before, timing("11:30:00"));
    const resumed = timed({ ...paused, enabled: true }, paused, timing("12:01:00"));

    expect(paused).not.toHaveProperty("nextRunAt");
    expect(resumed.nextRunAt).toEqual(at("12:05:00"));
  });

  test("a schedule does not become due again for a time that has fired, even if the clock lags", () => {
    const before = aSchedule({ lastRanAt: at("12:05:00"), nextRunAt: at("12:10:00") });

    expect(timed({ ...before, cron: "* * * * *" }, before, timing("12:04:30")).nextRunAt).toEqual(
      at("12:06:00"),
    );
  });
});

describe("a schedule that fires", () => {
  const due = aSchedule({ nextRunAt: at("08:00:00"), lastSpawnError: "old" });

  test("a schedule that fires late fires once for all missed times and is next due in the future", () => {
    const after = fired(due, undefined, timing("12:01:00"));

    expect(after).toMatchObject({ lastRanAt: at("12:01:00"), nextRunAt: at("12:05:00") });
    expect(after).not.toHaveProperty("lastSpawnError");
  });

  test("a schedule that fires by a lagging clock has not run earlier than it was due", () => {
    expect(fired(due, undefined, timing("07:59:58"))).toMatchObject({
      lastRanAt: at("08:00:00"),
      nextRunAt: at("08:05:00"),
    });
  });

  test("a schedule that starts no run says why and becomes due again", () => {
    const after = fired(due, "Not allowed.", timing("08:00:01"));

    expect(after).toMatchObject({ lastSpawnError: "Not allowed.", nextRunAt: at("08:05:00") });
    expect(after).not.toHaveProperty("lastRanAt");
  });
});

test("a team schedule is visible to the team, and a personal one to its creator and administrators", () => {
  const [ada, bob] = [aPrincipal(), aPrincipal()];
  const chief = aPrincipal({ administrator: true });
  const stranger = aPrincipal({ teamId: "other" as Schedule["teamId"], administrator: true });
  const seen = (schedule: Schedule) =>
    [ada, bob, chief, stranger].map((viewer) => isOpenTo(ownedOf(schedule), viewer));

  expect(seen(aSchedule({ creatorId: ada.id }))).toEqual([true, true, true, false]);
  expect(seen(aSchedule({ creatorId: ada.id, teamOwned: false }))).toEqual([true, false, true, false]);
});
