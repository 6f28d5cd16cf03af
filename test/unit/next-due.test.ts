import { describe, expect, test } from "vitest";
import { nextDue } from "../../src/next-due.ts";

const NOON = new Date("2026-03-01T12:00:00.000Z");

describe("the next due time of a cron expression", () => {
  test.each([
    ["* * * * *", "2026-03-01T12:01:00.000Z"],
    ["*/15 0,12 * * *", "2026-03-01T12:15:00.000Z"],
    ["0 12 * * *", "2026-03-02T12:00:00.000Z"],
    ["0 9 * * MON-FRI", "2026-03-02T09:00:00.000Z"],
    ["0 9 1 jan,jul *", "2026-07-01T09:00:00.000Z"],
    ["0 0 * * 7", "2026-03-08T00:00:00.000Z"],
    ["0 0 13 * 5", "2026-03-06T00:00:00.000Z"],
    ["0 0 29 2 *", "2028-02-29T00:00:00.000Z"],
    ["0 8-18/2 * * *", "2026-03-01T14:00:00.000Z"],
    ["  30\t4  * * * ", "2026-03-02T04:30:00.000Z"],
  ])("of %j is %s", (cron, due) => {
    expect(nextDue(cron, NOON)?.toISOString()).toBe(due);
  });

  test("is later than the time asked for, to the millisecond", () => {
    expect(nextDue("* * * * *", new Date("2026-03-01T11:59:59.999Z"))).toEqual(NOON);
    expect(nextDue("0 12 * * *", NOON)).toEqual(new Date("2026-03-02T12:00:00.000Z"));
  });

  test.each([
    "",
    "* * * *",
    "* * * * * *",
    "0 * * * * * *",
    "@daily",
    "@reboot",
    "60 * * * *",
    "* 24 * * *",
    "* * 0 * *",
    "* * * 13 *",
    "* * * * 8",
    "*/0 * * * *",
    "5-1 * * * *",
    "? * * * *",
    "0 9 L * *",
    "0 9 15W * *",
    "0 9 * * 1#2",
    "a b c d e",
    "-1 * * * *",
    "1.5 * * * *",
    "0 0 30 2 *",
  ])("of %j is none", (cron) => {
    expect(nextDue(cron, NOON)).toBeUndefined();
  });
});
