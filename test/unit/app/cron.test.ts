import { describe, expect, test } from "vitest";
import { nextDue } from "../../../src/app/cron.ts";

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
  ])("the next due time of %j is %s", (cron, due) => {
    expect(nextDue(cron, NOON)?.toISOString()).toBe(due);
  });

  test.each([
    ["20/15 * * * *", ["12:20", "12:35", "12:50", "13:20"]],
    ["1,50/5,10-12/2 * * * *", ["12:01", "12:10", "12:12", "12:50", "12:55", "13:01"]],
    ["0 5/15 * * *", ["20:00", "05:00", "20:00"]],
    ["0 0 28/2 * *", ["2026-03-28", "2026-03-30", "2026-04-28"]],
    ["0 0 1 JUN/3 *", ["2026-06-01", "2026-09-01", "2026-12-01", "2027-06-01"]],
    ["0 0 1 12/3 *", ["2026-12-01", "2027-12-01"]],
    ["0 0 * * thu/2", ["2026-03-05", "2026-03-07", "2026-03-12"]],
    ["0 0 * * 7/2", ["2026-03-08", "2026-03-15"]],
    ["0 0 * * 1/2", ["2026-03-02", "2026-03-04", "2026-03-06", "2026-03-08", "2026-03-09"]],
  ])("the next due times of %j, one after the other, are %j", (cron, times) => {
    const due: (Date | undefined)[] = [];
    for (const _time of times) {
      due.push(nextDue(cron, due.at(-1) ?? NOON));
    }

    expect(due.map((time) => time?.toISOString())).toEqual(
      times.map((time) => expect.stringContaining(time)),
    );
  });

  test("the next due time is later than the start time by at least a millisecond", () => {
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
    "5/0 * * * *",
    "60/5 * * * *",
    "0 0 0/5 * *",
    "5-1 * * * *",
    "? * * * *",
    "0 9 L * *",
    "0 9 15W * *",
    "0 9 * * 1#2",
    "a b c d e",
    "-1 * * * *",
    "1.5 * * * *",
    "0 0 30 2 *",
  ])("the expression %j is never due", (cron) => {
    expect(nextDue(cron, NOON)).toBeUndefined();
  });
});
