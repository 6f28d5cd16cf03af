import { isIP } from "node:net";
import { z } from "zod";

/** The parts of a value that are separated by commas, without empty ones. */
export function partsOf(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/** A switch. */
export const flag = z
  .enum(["0", "1", "true", "false"])
  .transform((value) => value === "1" || value === "true");

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

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,62})(\.[a-z0-9]([a-z0-9-]{0,62}))*\.?$/i;
/** A name whose last part is a number is a mistyped IP address (https://url.spec.whatwg.org/#ends-in-a-number-checker). */
const NUMBER_AT_END = /(^|\.)(\d+|0x[0-9a-f]*)\.?$/i;

/** An IP address or a host name to listen on. */
export const listenHost = z
  .string()
  .refine(
    (text) => isIP(text) > 0 || (HOST_NAME.test(text) && !NUMBER_AT_END.test(text)),
    "must be an IP address or a host name, such as 0.0.0.0",
  );

/** An http or https address of a server, without a path. */
export const serverAddress = plainAddress("https://errand.example.com, without a path", /^https?:$/).refine(
  (text) => URL.parse(text)?.pathname === "/",
  "must be an address such as https://errand.example.com, without a path",
);

/** An address without a slash at its end. Credentials are refused, because it appears in log and error messages. */
export function plainAddress(example: string, protocols: RegExp) {
  return z
    .string()
    .refine((text) => isPlainAddress(text, protocols), {
      error: `must be an address such as ${example}, and without a user name, password or query`,
      abort: true,
    })
    .transform((text) => text.replace(/\/+$/, ""));
}

function isPlainAddress(text: string, protocols: RegExp): boolean {
  const url = URL.parse(text);
  const isKnown = url !== null && protocols.test(url.protocol);
  return isKnown && url.username === "" && url.password === "" && !/[?#\s]/.test(text);
}

/** The address of PostgreSQL. It may hold a password, so the value is not shown. */
export const databaseAddress = z
  .string()
  .refine(
    isDatabaseAddress,
    "must be an address such as postgresql://USER:PASSWORD@HOST:5432/DATABASE (its value is not shown)",
  );

function isDatabaseAddress(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) {
    return false;
  }
  return url.hostname !== "" || url.pathname.length > 1 || url.search !== "";
}
