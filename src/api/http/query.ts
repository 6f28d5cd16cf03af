import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { invalidMember } from "../../core/basics/errors.ts";
import { unwrapped } from "../schemas/marks.ts";

/** The schema library ignores a member of this name, so a filter by it would have no effect. */
const IGNORED_NAME = "__proto__";
const BRACKETS = /^([^[]+)\[(.*)\]$/s;

/** Gives each query the structure of its schema: lists for `state[]=…`, and one member for all `metadata[key]=…`. */
export function structureQueries(app: FastifyInstance): void {
  app.addHook("preValidation", (request, _reply, done) => {
    request.query = structured(request.routeOptions.schema?.querystring, Object(request.query));
    done();
  });
}

/** Returns the keys that the schema does not name. */
export function unknownKeysOf(schema: unknown, query: object): readonly string[] {
  return Object.keys(query).filter((key) => parameterOf(schema, key) === undefined);
}

/** Unknown keys stay as they are. */
export function structured(schema: unknown, query: object): unknown {
  const members = new Map<string, unknown>();
  for (const [key, value] of Object.entries(query)) {
    const { name, property } = parameterOf(schema, key) ?? { name: key };
    const before = members.get(name);
    // `metadata=x&metadata[a]=b` keeps the text, which the schema refuses.
    if (property === undefined) {
      members.set(name, before === undefined ? value : [before, value].flat());
    } else if (property === IGNORED_NAME) {
      throw invalidMember(`${name}.${property}`, `name must not be ${property}`);
    } else if (typeof before !== "string") {
      members.set(name, { ...Object(before), [property]: value });
    }
  }
  return Object.fromEntries(members);
}

interface Parameter {
  /** The member of the schema. */
  readonly name: string;
  /** Of `metadata[key]`: the key. */
  readonly property?: string;
}

function parameterOf(schema: unknown, key: string): Parameter | undefined {
  const shape = schema instanceof z.ZodObject ? schema.shape : {};
  if (Object.hasOwn(shape, key)) {
    return { name: key };
  }
  const [, name = "", property = ""] = BRACKETS.exec(key) ?? [];
  const type = Object.hasOwn(shape, name) ? unwrapped(shape[name]) : undefined;
  if (type instanceof z.ZodRecord) {
    return { name, property };
  }
  return type instanceof z.ZodArray && property === "" ? { name } : undefined;
}
