import { z } from "zod";

/** A text of at most `maxBytes` bytes in UTF-8. */
export function textOfBytes(maxBytes: number): z.ZodString {
  const fits = (text: string): boolean => Buffer.byteLength(text) <= maxBytes;
  return z.string().refine(fits, `must have at most ${maxBytes} bytes`);
}

/** A text of at most `max` characters, as people count them, not in UTF-16 units. */
export function textOfCharacters(max: number): z.ZodString {
  const fits = (text: string): boolean => hasAtMost(max, text);
  return z.string().refine(fits, `must have at most ${max} characters`).meta({ maxLength: max });
}

export function hasAtMost(max: number, text: string): boolean {
  return text.length <= max || Array.from(text).length <= max;
}

/** RFC 3339. */
export const Timestamp = z.iso.datetime({ offset: true });

/** A time in a request, as in RFC 3339: it has an offset or `Z`, exists, and may use lower-case letters. */
export const TimestampInput = z
  .string()
  .refine((text) => Timestamp.safeParse(text.toUpperCase()).success, "must be a time as in RFC 3339")
  .refine(isWithinRange, "must be within the years 1 to 9999")
  .meta({ format: "date-time" });
export const TimeInput = TimestampInput.transform((text) => new Date(text));

/** PostgreSQL has no year 0, which an offset can lead to. The format is checked before. */
function isWithinRange(text: string): boolean {
  const year = new Date(text).getUTCFullYear();
  return !(year < 1 || year > 9_999);
}
