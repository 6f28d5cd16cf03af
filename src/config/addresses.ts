import { isIP } from "node:net";
import { z } from "zod";

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,62})(\.[a-z0-9]([a-z0-9-]{0,62}))*\.?$/i;
/** A name whose last part is a number is a mistyped IP address (https://url.spec.whatwg.org/#ends-in-a-number-checker). */
const NUMBER_AT_END = /(^|\.)(\d+|0x[0-9a-f]*)\.?$/i;

/** An IP address or a host name to listen on. */
export const listenHost = z.string().transform((text, context) => {
  if (isIP(text) > 0 || (HOST_NAME.test(text) && !NUMBER_AT_END.test(text))) {
    return text;
  }
  context.addIssue({
    code: "custom",
    message: `must be an IP address or a host name, such as 0.0.0.0, not "${text}"`,
  });
  return z.NEVER;
});

/** An http or https address of a server, without a path. A value with a password is not shown. */
export const serverAddress = z.string().transform((text, context) => {
  const problem = problemOf(text);
  if (problem === undefined) {
    return text.replace(/\/+$/, "");
  }
  context.addIssue({
    code: "custom",
    message: `must be an address such as https://errand.example.com${problem}`,
  });
  return z.NEVER;
});

function problemOf(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return text.includes("@") ? "" : `, not "${text}"`;
  }
  if (url.username !== "" || url.password !== "") {
    return " without a user name or password";
  }
  return url.pathname === "/" && !/[?#]/.test(text) ? undefined : ` without a path, not "${text}"`;
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
