import type { z } from "zod";
import { cutText } from "../../core/basics/clean-text.ts";

export const REQUIRED = "is required";
/** The length of a message that lists values or repeats names of the caller. */
const LIST_LENGTH_MAX = 300;

/** Types by the schema library's names, in words. */
const TYPES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  bigint: "a whole number",
  boolean: "true or false",
  array: "a list",
  tuple: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};
/** Formats of texts by the schema library's names, in words. */
const FORMATS: Readonly<Record<string, string>> = {
  email: "an email address",
  url: "a URL",
  uuid: "a UUID",
  datetime: "a time such as 2026-03-01T09:00:00Z",
  date: "a date such as 2026-03-01",
};
/** What is counted of a value that has a size. */
const UNITS: Readonly<Record<string, string>> = { string: "characters", array: "entries" };

/** Says what a value must be, in the words of this service: those of the schema library are for programmers. */
export function messageOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? REQUIRED : `must be ${TYPES[issue.expected] ?? "of another type"}`;
    case "invalid_value":
      return issue.input === undefined ? REQUIRED : oneOf(issue.values);
    case "too_small":
      return limit(issue.origin, issue.inclusive === false ? "more than" : "at least", issue.minimum);
    case "too_big":
      return limit(issue.origin, issue.inclusive === false ? "less than" : "at most", issue.maximum);
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    case "invalid_format":
      return `must be ${FORMATS[issue.format] ?? "in another format"}`;
    case "unrecognized_keys":
      return cutText(`must not have the members ${issue.keys.join(", ")}`, LIST_LENGTH_MAX);
    case "invalid_union":
      return unionMessage(issue);
    case "invalid_key":
      return "has a member whose name is not valid";
    default:
      return "is not valid";
  }
}

function oneOf(values: readonly unknown[]): string {
  const names = values.map(String).join(", ");
  return cutText(values.length === 1 ? `must be ${names}` : `must be one of ${names}`, LIST_LENGTH_MAX);
}

function limit(origin: string, bound: string, size: number | bigint): string {
  const unit = UNITS[origin];
  if (unit === undefined) {
    return `must be ${bound} ${size}`;
  }
  return bound === "at least" && size === 1 ? "must not be empty" : `must have ${bound} ${size} ${unit}`;
}

/** The variants that refuse the value as a whole say what it could be instead. */
function unionMessage({ discriminator, errors, input, options }: UnionIssue): string {
  if (discriminator !== undefined) {
    return Object(input)[discriminator] === undefined ? REQUIRED : oneOf(options ?? []);
  }
  const wanted = errors.map(([first]) => (first?.path.length === 0 ? first.message : undefined));
  const types = new Set(wanted.flatMap((message) => /^must be (.+)$/.exec(message ?? "")?.[1] ?? []));
  return types.size === 0 ? "has none of the possible forms" : `must be ${[...types].join(" or ")}`;
}

interface UnionIssue {
  readonly discriminator?: string | undefined;
  readonly errors: readonly (readonly z.core.$ZodIssue[])[];
  readonly input?: unknown;
  readonly options?: readonly unknown[] | undefined;
}
