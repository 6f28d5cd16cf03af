import { hash } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../../core/basics/errors.ts";
import { StatusError } from "./errors.ts";

type Item = Readonly<Record<string, unknown>>;

/** Which members of an answer only callers change. A member that changes by itself must not refuse an edit. */
export type EditedPart = (item: Item) => unknown;

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route reads or writes one resource, so its answer has an `ETag`. */
    readonly edited?: EditedPart;
    /** The answer must not be stored, not even by the browser of the caller. */
    readonly neverStored?: boolean;
  }
}

/** All members except these. */
export function except(...names: readonly string[]): EditedPart {
  return (item) => Object.fromEntries(Object.entries(item).filter(([name]) => !names.includes(name)));
}

/** Only these members. */
export function only(...names: readonly string[]): EditedPart {
  return (item) => names.map((name) => item[name] ?? null);
}

const VERSION_LENGTH = 16;
const CONTENT_LENGTH = 22;
/** Proxies that compress an answer weaken its tag, or add the encoding to it. */
const TAG = /^(?:W\/)?"(?<version>[\w-]{16})\.(?<content>[\w-]{22})[\w;-]*"$/;

function versionOf(item: Item, edited: EditedPart): string {
  return hash("sha256", JSON.stringify(edited(item)), "base64url").slice(0, VERSION_LENGTH);
}

function tagOf(version: string, content: string): string {
  return `"${version}.${hash("sha256", content, "base64url").slice(0, CONTENT_LENGTH)}"`;
}

/**
 * Gives the answer of each route with `edited` a strong ETag of two parts: the version, which changes with each write of
 * a caller, and the hash of the whole answer. A read whose caller knows this answer gets 304.
 */
export function tagAnswers(app: FastifyInstance): void {
  const versions = new WeakMap<FastifyRequest, string>();
  app.addHook("preSerialization", (request, reply, payload, done) => {
    const { edited } = request.routeOptions.config;
    const isItem = request.method !== "DELETE" && reply.statusCode < 300 && edited !== undefined;
    if (isItem) {
      versions.set(request, versionOf(payload as Item, edited));
    }
    done(null, payload);
  });
  app.addHook("onSend", (request, reply, payload, done) => {
    const version = versions.get(request);
    if (version === undefined || typeof payload !== "string" || reply.statusCode >= 300) {
      done(null, payload);
      return;
    }
    const tag = tagOf(version, payload);
    reply.header("etag", tag);
    const isRead = request.method === "GET";
    if (isRead && request.routeOptions.config.neverStored !== true) {
      reply.header("cache-control", "private, no-cache");
    }
    const isKnown = isRead && knows(request.headers["if-none-match"], tag);
    if (isKnown) {
      reply.code(304).removeHeader("content-type").removeHeader("content-length");
    }
    done(null, isKnown ? null : payload);
  });
}

/** Refuses an `If-Match` that no route would compare, because ignoring it would overwrite what it protects. */
export function refuseUnusedConditions(app: FastifyInstance): void {
  app.addHook("onRequest", (request, _reply, done) => {
    const condition = request.headers["if-match"];
    const isUnused =
      condition !== undefined &&
      condition.trim() !== "*" &&
      ["PUT", "PATCH", "DELETE"].includes(request.method) &&
      request.routeOptions.config.edited === undefined;
    done(isUnused ? unusedCondition() : undefined);
  });
}

function unusedCondition(): StatusError {
  return new StatusError(412, "conflict", "This address has no ETag, so nothing matches.", {
    retryable: false,
    remedy: "Leave If-Match out.",
  });
}

/** Compares the `If-Match` of a write with the resource as it is in the transaction of the write. */
export async function requireMatch(request: FastifyRequest, read: () => Promise<unknown>): Promise<void> {
  if (request.headers["if-match"] !== undefined && request.routeOptions.config.edited !== undefined) {
    requireMatchOf(request, (await read()) as Item);
  }
}

export function requireMatchOf(request: FastifyRequest, item: Item): void {
  const condition = request.headers["if-match"]?.trim();
  const { edited } = request.routeOptions.config;
  if (condition === undefined || edited === undefined) {
    return;
  }
  const wanted = condition === "*" ? [] : tagsIn(condition);
  const version = versionOf(item, edited);
  if (condition === "*" || wanted.some((tag) => TAG.exec(tag)?.groups?.version === version)) {
    return;
  }
  const currentTag = tagOf(version, JSON.stringify(item));
  throw new StatusError(
    412,
    "conflict",
    `This was changed meanwhile. Its current version is ${currentTag}.`,
    {
      retryable: false,
      currentTag,
      remedy: "Read it again, and send the change once more with the ETag of that answer.",
    },
  );
}

function knows(condition: string | undefined, tag: string): boolean {
  if (condition === undefined) {
    return false;
  }
  const bare = (each: string) => {
    const { version, content } = TAG.exec(each)?.groups ?? {};
    return `"${version}.${content}"`;
  };
  return condition.trim() === "*" || splitTags(condition).some((each) => bare(each) === tag);
}

function tagsIn(condition: string): readonly string[] {
  const tags = splitTags(condition);
  if (tags.length === 0 || tags.some((tag) => !/^(?:W\/)?"[^"]*"$/.test(tag))) {
    const message = "must be *, or tags in quotation marks as the header ETag has them";
    throw new AppError("invalid_request", `If-Match: ${message}`, {
      issues: [{ path: "If-Match", message }],
    });
  }
  return tags;
}

function splitTags(condition: string): readonly string[] {
  return condition
    .split(",")
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");
}
