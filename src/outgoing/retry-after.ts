/**
 * A `Retry-After` header as milliseconds from now, given in seconds or as a date; undefined: it is missing or
 * invalid.
 */
export function retryAfterMs(header: string | string[] | undefined, now: Date): number | undefined {
  if (typeof header !== "string") {
    return undefined;
  }
  if (/^\d{1,9}$/.test(header)) {
    return Number(header) * 1_000;
  }
  const at = HTTP_DATE.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime());
}

/** JavaScript's own date parser accepts almost anything. */
const HTTP_DATE = /^[A-Z][a-z]{2,8}, .* GMT$/;
