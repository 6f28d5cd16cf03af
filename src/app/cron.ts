import { Cron } from "croner";
import type { NextDue } from "../core/model/schedules/schedule.ts";

/**
 * What every cron implementation accepts: numbers, names of months and days, lists, ranges and steps. The library
 * also accepts `L`, `W`, `#`, nicknames, and `?` for the current time.
 */
const FIELD = String.raw`(?:\*|\d{1,2}|[A-Za-z]{3})(?:-(?:\d{1,2}|[A-Za-z]{3}))?(?:\/\d{1,2})?`;
const LIST = `${FIELD}(?:,${FIELD})*`;
const EXPRESSION = new RegExp(`^${LIST}(?: ${LIST}){4}$`);

/**
 * The largest values of minute, hour, day of month, month and day of week. The week ends with 7, because cron accepts
 * Sunday at both ends.
 */
const LAST = [59, 23, 31, 12, 7];
/** Steps that start at a number, as in `5/15`. */
const OPEN_STEPS = /(?<=^|,)(\w+)\/(\d+)/g;

export const nextDue: NextDue = (expression, after) => {
  const fields = expression.trim().split(/\s+/);
  if (!EXPRESSION.test(fields.join(" "))) {
    return undefined;
  }
  const closed = fields.map(withClosedSteps).join(" ");
  try {
    return new Cron(closed, { mode: "5-part", timezone: "UTC", paused: true }).nextRun(after) ?? undefined;
  } catch {
    // The library throws for numbers that the field cannot have.
    return undefined;
  }
};

/** The library refuses steps without an end. With `sloppyRanges`, it has no Sunday at the end of the week. */
function withClosedSteps(field: string, index: number): string {
  return field.replace(OPEN_STEPS, `$1-${LAST[index]}/$2`);
}
