import { Cron } from "croner";
import type { NextDue } from "./core/ports/cron.ts";

/**
 * Numbers, names of months and days, lists, ranges and steps: what every cron knows. The library knows more (`L`, `W`,
 * `#`, nicknames), and `?`, which stands for the moment of reading.
 */
const FIELD = String.raw`(?:\*|\d{1,2}|[A-Za-z]{3})(?:-(?:\d{1,2}|[A-Za-z]{3}))?(?:\/\d{1,2})?`;
const LIST = `${FIELD}(?:,${FIELD})*`;
const EXPRESSION = new RegExp(`^${LIST}(?: ${LIST}){4}$`);

export const nextDue: NextDue = (expression, after) => {
  const fields = expression.trim().split(/\s+/).join(" ");
  if (!EXPRESSION.test(fields)) return undefined;
  try {
    return new Cron(fields, { mode: "5-part", timezone: "UTC", paused: true }).nextRun(after) ?? undefined;
  } catch {
    // Numbers that no such field has: the library says so by throwing.
    return undefined;
  }
};
