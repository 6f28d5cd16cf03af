import type { RunEventBody } from "../../core/model/runs/events.ts";

/** Members whose name in the API is not the one of the code in snake_case. */
const NAMES = {
  followUpId: "followup_id",
  followUpIds: "followup_ids",
  artifactId: "artifact_uid",
  filePath: "filepath",
  fileName: "filename",
} as const;

/** Members whose values are kept as they are, because others choose the names in them. */
const OPAQUE_NAMES: Readonly<Record<OpaqueName<RunEventBody>, true>> = {
  rawInput: true,
  rawOutput: true,
  data: true,
};
const OPAQUE: ReadonlySet<string> = new Set(Object.keys(OPAQUE_NAMES));

type OpaqueName<T> = T extends readonly (infer Item)[]
  ? OpaqueName<Item>
  : T extends object
    ? { [Name in keyof T & string]-?: IsOpaque<T[Name]> extends true ? Name : OpaqueName<T[Name]> }[keyof T &
        string]
    : never;
type IsOpaque<Value> = unknown extends Value ? true : string extends keyof NonNullable<Value> ? true : false;

/** The name in the API of a member of an event. */
export type ApiName<Name extends string> = Name extends keyof typeof NAMES
  ? (typeof NAMES)[Name]
  : SnakeCase<Name>;
type SnakeCase<Name extends string> = Name extends `${infer Letter}${infer Rest}`
  ? `${Letter extends Lowercase<Letter> ? Letter : `_${Lowercase<Letter>}`}${SnakeCase<Rest>}`
  : "";

const known = new Map<string, string>(Object.entries(NAMES));

/** Copies a value of a run event with the member names of the API. */
export function withApiNames(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(withApiNames);
  }
  return typeof value === "object" && value !== null ? membersWithApiNames(value) : value;
}

export function membersWithApiNames(members: object): Record<string, unknown> {
  const renamed: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(members)) {
    renamed[apiName(name)] = OPAQUE.has(name) ? value : withApiNames(value);
  }
  return renamed;
}

/** There are few names and many events, so each name is converted once. */
function apiName(name: string): string {
  const before = known.get(name);
  if (before !== undefined) {
    return before;
  }
  const converted = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  known.set(name, converted);
  return converted;
}
