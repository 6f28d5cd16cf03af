import { z } from "zod";

/** Text of at most so many bytes of UTF-8. */
export function textOfBytes(maxBytes: number): z.ZodString {
  const fits = (text: string): boolean => Buffer.byteLength(text) <= maxBytes;
  return z.string().refine(fits, `must have at most ${maxBytes} bytes`);
}

/** Text of at most so many characters, as people count them rather than UTF-16. */
export function textOfCharacters(max: number): z.ZodString {
  const fits = (text: string): boolean => hasAtMost(max, text);
  return z.string().refine(fits, `must have at most ${max} characters`).meta({ maxLength: max });
}

export function hasAtMost(max: number, text: string): boolean {
  return text.length <= max || Array.from(text).length <= max;
}

/** RFC 3339. */
export const Timestamp = z.iso.datetime({ offset: true });

/** A point in time given by a caller: with an offset or `Z`, and one that there is. Its letters may be small (RFC 3339). */
export const GivenTimestamp = z
  .string()
  .refine((text) => Timestamp.safeParse(text.toUpperCase()).success, "must be a time of RFC 3339")
  .refine(isWithinRange, "must be within the years 1 to 9999")
  .meta({ format: "date-time" });
export const GivenTime = GivenTimestamp.transform((text) => new Date(text));

/** PostgreSQL knows no year 0, and an offset may lead there. What is no time at all is told apart before. */
function isWithinRange(text: string): boolean {
  const year = new Date(text).getUTCFullYear();
  return !(year < 1 || year > 9_999);
}
