import { Cron } from "croner";
import type { NextDue } from "../core/schedules/cron.ts";

/**
 * Numbers, names of months and days, lists, ranges and steps: what every cron knows. The library knows more (`L`, `W`,
 * `#`, nicknames), and `?`, which stands for the moment of reading.
 */
const FIELD = String.raw`(?:\*|\d{1,2}|[A-Za-z]{3})(?:-(?:\d{1,2}|[A-Za-z]{3}))?(?:\/\d{1,2})?`;
const LIST = `${FIELD}(?:,${FIELD})*`;
const EXPRESSION = new RegExp(`^${LIST}(?: ${LIST}){4}$`);

/** Of minute, hour, day of month, month, day of week. The week's is 7, as cron has it: Sunday is at both its ends. */
const LAST = [59, 23, 31, 12, 7];
/** Steps from a number on, as in `5/15`. */
const OPEN_STEPS = /(?<=^|,)(\w+)\/(\d+)/g;

export const nextDue: NextDue = (expression, after) => {
  const fields = expression.trim().split(/\s+/);
  if (!EXPRESSION.test(fields.join(" "))) return undefined;
  const closed = fields.map(withClosedSteps).join(" ");
  try {
    return new Cron(closed, { mode: "5-part", timezone: "UTC", paused: true }).nextRun(after) ?? undefined;
  } catch {
    // Numbers that no such field has: the library says so by throwing.
    return undefined;
  }
};

/** The library refuses steps without an end, or, with `sloppyRanges`, has no Sunday at the end of the week. */
function withClosedSteps(field: string, index: number): string {
  return field.replace(OPEN_STEPS, `$1-${LAST[index]}/$2`);
}
