import { z } from "zod";
import { AppError, invalidMember } from "../../core/basics/errors.ts";
import { jsonPointer } from "../../core/basics/json-pointer.ts";
import { isClearable, unwrapped } from "../schemas/marks.ts";
import { hasAtMost } from "../schemas/text.ts";
import { messageOf, REQUIRED } from "./validation-messages.ts";

type Issue = { readonly path: string; readonly message: string; readonly pointer?: string };
type Validation<Value> = { readonly value: Value } | { readonly error: AppError };

/** Deeper than any valid request, and far below the limit of the stack. */
export const DEPTH_MAX = 64;

interface RoutePart<Schema> {
  readonly schema: Schema;
  /** The part of the request, by Fastify's name. */
  readonly httpPart?: string;
}

/**
 * Converts the zod schema of a route to Fastify's validator. Invalid input results in `invalid_request` with the
 * fields.
 */
export function compileValidator<Schema extends z.ZodType>({
  schema,
  httpPart,
}: RoutePart<Schema>): (input: unknown) => Validation<z.output<Schema>> {
  return (input) => {
    const bad = badTextIn(input, "", 0);
    if (bad !== undefined) {
      return { error: invalid([bad]) };
    }
    // An empty path segment is an unknown id. A missing part arrives as null.
    const cleaned = httpPart === "params" ? input : withoutEmpty(schema, input ?? undefined);
    return validated(schema, cleaned);
  };
}

/** Only the schema, in the words of this service. */
export function validated<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
): Validation<z.output<Schema>> {
  const result = schema.safeParse(input, { error: messageOf });
  return result.success ? { value: result.data } : { error: invalid(result.error.issues.map(issueOf)) };
}

export function invalid(issues: readonly Issue[]): AppError {
  const [first, ...others] = issues;
  const problem = first === undefined ? "not valid" : problemOf(first);
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return new AppError("invalid_request", `${problem}${more}`, { issues });
}

export function requireBytes(path: string, text: string | undefined, max: number): void {
  if (text !== undefined && Buffer.byteLength(text) > max) {
    throw invalidMember(path, `must have at most ${max} bytes`);
  }
}

/** Limits the size of a configuration, because it is read with each run. The base prompt has its own limit. */
export function requireConfigBytes(
  path: string,
  config: { readonly base_prompt?: string | undefined } = {},
  { basePromptBytes, configBytes }: { readonly basePromptBytes: number; readonly configBytes: number },
): void {
  const { base_prompt, ...others } = config;
  requireBytes(`${path}.base_prompt`, base_prompt, basePromptBytes);
  requireBytes(path, JSON.stringify(others), configBytes);
}

/** Counts characters as people do, not UTF-16 units. */
export function requireCharacters(path: string, text: string | undefined, max: number): void {
  if (text !== undefined && !hasAtMost(max, text)) {
    throw invalidMember(path, `must have at most ${max} characters`);
  }
}

function problemOf({ path, message }: Issue): string {
  if (message === REQUIRED) {
    return path === "" ? "A JSON body is required" : `${path} ${REQUIRED}`;
  }
  return path === "" ? message : `${path}: ${message}`;
}

/** For a member with an invalid name, the message about the name is in a nested issue. */
function issueOf(issue: z.core.$ZodIssue): Issue {
  const ofName = issue.code === "invalid_key" ? issue.issues[0] : undefined;
  const message = ofName === undefined ? issue.message : `name ${ofName.message}`;
  // A name may contain a dot itself.
  const hasDots = issue.path.some((name) => String(name).includes("."));
  const path = issue.path.map(String).join(".");
  return hasDots ? { path, message, pointer: jsonPointer(issue.path) } : { path, message };
}

/** PostgreSQL cannot store NUL or half a surrogate pair, and unlimited nesting exhausts the stack. */
function badTextIn(value: unknown, path: string, depth: number): Issue | undefined {
  if (typeof value === "string") {
    return isText(value) ? undefined : { path, message: "must be text without NUL characters" };
  }
  if (typeof value !== "object" || value === null) {
    return undefined;
  }
  if (depth === DEPTH_MAX) {
    return { path: "", message: `must not be nested deeper than ${DEPTH_MAX}` };
  }
  for (const [name, member] of Object.entries(value)) {
    if (!isText(name)) {
      return { path, message: "has a member whose name is not valid text" };
    }
    const bad = badTextIn(member, path === "" ? name : `${path}.${name}`, depth + 1);
    if (bad !== undefined) {
      return bad;
    }
  }
  return undefined;
}

function isText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** Treats a `null` or empty optional member as absent. Members that the schema does not name stay unchanged. */
function withoutEmpty(schema: z.core.$ZodType, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return value;
  }
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodObject) {
    return isClearable(inner) ? value : cleanObject(inner, value);
  }
  if (!(inner instanceof z.ZodRecord)) {
    return value;
  }
  return mapMembers(value, (member) => withoutEmpty(inner.valueType, member));
}

function cleanObject({ shape }: z.ZodObject, value: object): unknown {
  const members: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const known = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (known === undefined) {
      members.push([name, member]);
    } else if (member !== null && (member !== "" || isClearable(known))) {
      members.push([name, withoutEmpty(known, member)]);
    }
  }
  return Object.fromEntries(members);
}

function mapMembers(value: object, change: (member: unknown) => unknown): unknown {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, change(member)]));
}
