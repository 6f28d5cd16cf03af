import { z } from "zod";
import { AppError, invalidMember } from "../../core/errors.ts";
import { hasAtMost } from "../schemas/text.ts";
import { DEPTH_MAX } from "./json-structure.ts";

type Issue = { readonly path: string; readonly message: string };
type Validation = { readonly value: unknown } | { readonly error: AppError };

interface Checked {
  readonly schema: z.ZodType;
  /** Which part of a request it is, as Fastify calls it. */
  readonly httpPart?: string;
}

/** Turns a route's zod schema into the check Fastify calls; bad input is an `invalid_request` that names the fields. */
export function compileValidator({ schema, httpPart }: Checked): (input: unknown) => Validation {
  return (input) => {
    const bad = badTextIn(input, "", 0);
    if (bad !== undefined) return { error: invalid([bad]) };
    // An empty part of an address is an id that nobody has. What is not there at all comes here as null.
    const given = httpPart === "params" ? input : withoutEmpty(schema, input ?? undefined);
    const result = schema.safeParse(given);
    return result.success ? { value: result.data } : { error: invalid(result.error.issues.map(issueOf)) };
  };
}

export function invalid(issues: readonly Issue[]): AppError {
  const [first, ...others] = issues;
  const place = first?.path ? `${first.path}: ` : "";
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return new AppError("invalid_request", `${place}${first?.message ?? "not valid"}${more}`, { issues });
}

export function requireBytes(path: string, text: string | undefined, max: number): void {
  if (text !== undefined && Buffer.byteLength(text) > max) {
    throw invalidMember(path, `must have at most ${max} bytes`);
  }
}

/** A configuration is read with its run wherever that is, so it is bounded; its base prompt by itself. */
export function requireConfigBytes(
  path: string,
  config: { readonly base_prompt?: string | undefined } = {},
  { basePromptBytes, configBytes }: { readonly basePromptBytes: number; readonly configBytes: number },
): void {
  const { base_prompt, ...others } = config;
  requireBytes(`${path}.base_prompt`, base_prompt, basePromptBytes);
  requireBytes(path, JSON.stringify(others), configBytes);
}

/** Characters as people count them. */
export function requireCharacters(path: string, text: string | undefined, max: number): void {
  if (text !== undefined && !hasAtMost(max, text)) {
    throw invalidMember(path, `must have at most ${max} characters`);
  }
}

/** Of a member with a wrong name, what is wrong with the name is in an issue of its own. */
function issueOf(issue: z.core.$ZodIssue): Issue {
  const ofName = issue.code === "invalid_key" ? issue.issues[0] : undefined;
  const message = ofName === undefined ? issue.message : `name ${ofName.message}`;
  return { path: issue.path.map(String).join("."), message };
}

/** PostgreSQL cannot store NUL or half a character pair, and what is nested without end exhausts the stack. */
function badTextIn(value: unknown, path: string, depth: number): Issue | undefined {
  if (typeof value === "string")
    return isText(value) ? undefined : { path, message: "must be text without NUL" };
  if (typeof value !== "object" || value === null) return undefined;
  if (depth === DEPTH_MAX) return { path: "", message: `must not be nested deeper than ${DEPTH_MAX}` };
  for (const [name, member] of Object.entries(value)) {
    if (!isText(name)) return { path, message: "has a member whose name is no text" };
    const bad = badTextIn(member, path === "" ? name : `${path}.${name}`, depth + 1);
    if (bad !== undefined) return bad;
  }
  return undefined;
}

function isText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** A `null` or empty optional member means absent. Members that the schema does not name are left alone. */
function withoutEmpty(schema: z.core.$ZodType, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodObject) return cleanObject(inner, value);
  if (!(inner instanceof z.ZodRecord)) return value;
  return mapMembers(value, (member) => withoutEmpty(inner.valueType, member));
}

function cleanObject({ shape }: z.ZodObject, value: object): unknown {
  const members: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const known = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (known === undefined) members.push([name, member]);
    else if (member !== null && member !== "") members.push([name, withoutEmpty(known, member)]);
  }
  return Object.fromEntries(members);
}

function mapMembers(value: object, change: (member: unknown) => unknown): unknown {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, change(member)]));
}

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  const isWrapper =
    schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;
  return isWrapper ? unwrapped(schema.unwrap()) : schema;
}
