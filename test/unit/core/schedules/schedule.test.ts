import { describe, expect, test } from "vitest";
import { nextDue } from "../../../../src/app/cron.ts";
import { isOpenTo, ownedOf } from "../../../../src/core/people/ownership.ts";
import { fired, type Schedule, timed } from "../../../../src/core/schedules/schedule.ts";
import { aSchedule } from "../../../support/rule-builders.ts";
import { aPrincipal } from "../../../support/run-builders.ts";

const at = (time: string) => new Date(`2026-03-01T${time}.000Z`);
const timing = (time: string) => ({ now: at(time), nextDue });

describe("a schedule that is edited", () => {
  test("comes due at the next time from now", () => {
    expect(timed(aSchedule(), undefined, timing("12:01:00")).nextRunAt).toEqual(at("12:05:00"));
  });

  test("keeps a time that was missed, unless its expression is another", () => {
    const before = aSchedule({ nextRunAt: at("11:00:00") });

    expect(timed({ ...before, prompt: "x" }, before, timing("12:01:00")).nextRunAt).toEqual(at("11:00:00"));
    expect(timed({ ...before, cron: "0 * * * *" }, before, timing("12:01:00")).nextRunAt).toEqual(
      at("13:00:00"),
    );
  });

  test("has no due time while it is paused, and is not made up for when it is resumed", () => {
    const before = aSchedule({ nextRunAt: at("11:00:00") });

    const paused = timed({ ...before, enabled: false }, before, timing("11:30:00"));
    const resumed = timed({ ...paused, enabled: true }, paused, timing("12:01:00"));

    expect(paused).not.toHaveProperty("nextRunAt");
    expect(resumed.nextRunAt).toEqual(at("12:05:00"));
  });

  test("never comes due for a time it has fired, though the clock lags behind", () => {
    const before = aSchedule({ lastRanAt: at("12:05:00"), nextRunAt: at("12:10:00") });

    expect(timed({ ...before, cron: "* * * * *" }, before, timing("12:04:30")).nextRunAt).toEqual(
      at("12:06:00"),
    );
  });
});

describe("a schedule that fires", () => {
  const due = aSchedule({ nextRunAt: at("08:00:00"), lastSpawnError: "old" });

  test("late, fires once for all that was missed, and comes due next in the future", () => {
    const after = fired(due, undefined, timing("12:01:00"));

    expect(after).toMatchObject({ lastRanAt: at("12:01:00"), nextRunAt: at("12:05:00") });
    expect(after).not.toHaveProperty("lastSpawnError");
  });

  test("by a clock that lags behind, has run no earlier than it was due", () => {
    expect(fired(due, undefined, timing("07:59:58"))).toMatchObject({
      lastRanAt: at("08:00:00"),
      nextRunAt: at("08:05:00"),
    });
  });

  test("and starts nothing, says why and comes due again", () => {
    const after = fired(due, "Not allowed.", timing("08:00:01"));

    expect(after).toMatchObject({ lastSpawnError: "Not allowed.", nextRunAt: at("08:05:00") });
    expect(after).not.toHaveProperty("lastRanAt");
  });
});

test("a schedule of the team is everybody's in it, another its creator's and the administrators'", () => {
  const [ada, bob] = [aPrincipal(), aPrincipal()];
  const chief = aPrincipal({ administrator: true });
  const stranger = aPrincipal({ teamId: "other" as Schedule["teamId"], administrator: true });
  const seen = (schedule: Schedule) =>
    [ada, bob, chief, stranger].map((viewer) => isOpenTo(ownedOf(schedule), viewer));

  expect(seen(aSchedule({ creatorId: ada.id }))).toEqual([true, true, true, false]);
  expect(seen(aSchedule({ creatorId: ada.id, teamOwned: false }))).toEqual([true, false, true, false]);
});
