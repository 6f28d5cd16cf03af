import { z } from "zod";

/** A variable whose value is a whole number of this range. */
export function wholeNumber(min: number, max: number) {
  const range = `a whole number from ${min} to ${max}`;
  return numeric(range, (value) => Number.isInteger(value) && value >= min && value <= max);
}

/** A variable whose value is a number of this range. */
export function decimalNumber(min: number, max: number) {
  return numeric(`a number from ${min} to ${max}`, (value) => value >= min && value <= max);
}

/** A variable whose value is a number above 0. */
export function positiveNumber(max: number) {
  return numeric(`a number above 0 and at most ${max}`, (value) => value > 0 && value <= max);
}

/** Only decimal digits: Number() would also take 0x50, 1e3 and spaces. The description is shown in the documentation. */
function numeric(range: string, isInRange: (value: number) => boolean) {
  return z
    .string()
    .transform((text, context) => {
      const value = Number(text);
      if (/^\d+(\.\d+)?$/.test(text) && isInRange(value)) {
        return value;
      }
      context.addIssue({ code: "custom", message: `must be ${range}` });
      return z.NEVER;
    })
    .describe(range);
}
