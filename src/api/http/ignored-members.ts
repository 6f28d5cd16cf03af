import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { hasNoEffect, unwrapped } from "../schemas/marks.ts";
import { unknownKeysOf } from "./query.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The paths of members of the body that have no effect. undefined: the body was not read. */
    ignoredMembers: readonly string[] | undefined;
  }
}

const HEADER = "errand-ignored";
const PATHS_MAX = 100;
const PATH_LENGTH_MAX = 200;
const HEADER_LENGTH_MAX = 4_000;
/** The last entry of a list that was cut. */
const MORE = "...";

/**
 * Names in the header `Errand-Ignored` what a request contains and the server does not use: query keys, and members
 * of the body. Must be called before the hooks that refuse requests, so that errors name unknown query keys as well.
 */
export function nameIgnored(app: FastifyInstance): void {
  app.decorateRequest("ignoredMembers", undefined);
  app.addHook("onRequest", ({ query, routeOptions }, reply, done) => {
    addToHeader(reply, shortened(unknownKeysOf(routeOptions.schema?.querystring, Object(query))));
    done();
  });
  app.addHook("preValidation", (request, reply, done) => {
    const { body, routeOptions } = request;
    request.ignoredMembers = ignoredMembersOf(routeOptions.schema?.body, body);
    addToHeader(reply, request.ignoredMembers);
    done();
  });
  // Some members turn out to have no effect only when the request is performed.
  app.addHook("preSerialization", ({ ignoredMembers = [] }, reply, payload, done) => {
    const { ignored = [] }: { readonly ignored?: readonly string[] } = Object(payload);
    addToHeader(
      reply,
      ignored.filter((path) => !ignoredMembers.includes(path)),
    );
    done(null, payload);
  });
}

/** Returns the member `ignored` of a response, or nothing if everything was used. */
export function ignoredOf(
  { ignoredMembers = [] }: Pick<FastifyRequest, "ignoredMembers">,
  others: readonly string[] = [],
): { readonly ignored?: string[] } {
  const paths = [...new Set([...ignoredMembers, ...others])];
  return paths.length === 0 ? {} : { ignored: paths };
}

const NO_MEMBERS = z.object({});

/**
 * Returns the paths of the members of `body` that `schema` does not name, and of those that have no effect. Without a
 * schema, no member has an effect.
 */
export function ignoredMembersOf(schema: unknown, body: unknown): readonly string[] {
  const known = schema instanceof z.ZodType ? schema : NO_MEMBERS;
  const paths = pathsIn(known, body, { path: "", body: isObject(body) ? body : {} });
  return shortened(paths);
}

type Members = Readonly<Record<string, unknown>>;

interface Context {
  readonly path: string;
  readonly body: Members;
}

function pathsIn(schema: z.core.$ZodType, value: unknown, context: Context): readonly string[] {
  const inner = unwrapped(schema);
  const below = (type: z.core.$ZodType, [name, member]: [string, unknown]) =>
    pathsIn(type, member, { ...context, path: context.path === "" ? name : `${context.path}.${name}` });
  if (inner instanceof z.ZodUnion) {
    return pathsInUnion(inner.options, value, context);
  }
  if (Array.isArray(value)) {
    return inner instanceof z.ZodArray
      ? Object.entries(value).flatMap((entry) => below(inner.element, entry))
      : [];
  }
  if (!isObject(value)) {
    return [];
  }
  if (inner instanceof z.ZodRecord) {
    return Object.entries(value).flatMap((entry) => below(inner.valueType, entry));
  }
  return inner instanceof z.ZodObject ? pathsInObject(inner.shape, value, context, below) : [];
}

function pathsInObject(
  shape: Readonly<Record<string, z.core.$ZodType>>,
  value: Members,
  { path, body }: Context,
  below: (type: z.core.$ZodType, entry: [string, unknown]) => readonly string[],
): readonly string[] {
  return Object.entries(value).flatMap((entry) => {
    const [name, member] = entry;
    const known = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (known === undefined || (isGiven(member) && hasNoEffect(known, value, body))) {
      return [path === "" ? name : `${path}.${name}`];
    }
    return below(known, entry);
  });
}

/** Follows the variant that accepts the value and, of several, the one that knows the most members. */
function pathsInUnion(
  options: readonly z.core.$ZodType[],
  value: unknown,
  context: Context,
): readonly string[] {
  const accepting = options.filter((option) => z.safeParse(option, value).success);
  const [first = [], ...others] = (accepting.length === 0 ? options : accepting).map((option) =>
    pathsIn(option, value, context),
  );
  return others.reduce((best, paths) => (paths.length < best.length ? paths : best), first);
}

/** A `null` or empty member counts as absent. */
function isGiven(member: unknown): boolean {
  return member !== null && member !== "";
}

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Limits the size, because responses repeat the names and some are stored. */
function shortened(paths: readonly string[]): readonly string[] {
  const kept = paths
    .slice(0, PATHS_MAX)
    .map((path) => (path.length > PATH_LENGTH_MAX ? `${path.slice(0, PATH_LENGTH_MAX)}${MORE}` : path));
  return paths.length > PATHS_MAX ? [...kept, MORE] : kept;
}

function addToHeader(reply: FastifyReply, paths: readonly string[]): void {
  if (paths.length === 0) {
    return;
  }
  const before = reply.getHeader(HEADER);
  const names = [...(before === undefined ? [] : [String(before)]), ...paths.map(inHeader)];
  const text = names.join(",");
  const end = text.lastIndexOf(",", HEADER_LENGTH_MAX);
  reply.header(HEADER, text.length <= HEADER_LENGTH_MAX ? text : `${text.slice(0, end)},${MORE}`);
}

/** Encodes everything that could end the header or the entry, and what a header cannot contain. */
function inHeader(path: string): string {
  return path.toWellFormed().replace(/[^\x21-\x24\x26-\x2b\x2d-\x7e]/gu, encodeURIComponent);
}
