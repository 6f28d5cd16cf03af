import { hash } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import { viewerOf } from "../auth/authentication.ts";
import { SignedCursors } from "../http/cursors.ts";
import { numberInQuery } from "../schemas/list-runs.ts";
import type { PageInfo } from "../schemas/page-info.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The member of the answer that holds a collection without pages of its own. */
    readonly collection?: string;
  }
}

const LIMIT_MAX = 500;

/** The query of a collection that a route reads as a whole. */
export const PageQuery = z.object({
  limit: numberInQuery(1, LIMIT_MAX)
    .optional()
    .describe("The maximum number of entries per page. Default: all entries, on one page."),
  cursor: z
    .string()
    .optional()
    .describe("`next_cursor` of the previous page. Requires the same filters and the same sort."),
});
type PageQuery = z.output<typeof PageQuery>;

/** What a route says that returns the whole collection. */
export const WHOLE: { readonly page_info: PageInfo } = { page_info: { has_next_page: false } };

type Entry = Readonly<Record<string, unknown>>;

/**
 * Cuts the collections of all routes with `collection` into pages. Such a collection belongs to one team and is read as a
 * whole. A cursor names the last entry of its page, and the place of that entry in case it is deleted meanwhile.
 */
export function pageCollections(app: FastifyInstance, secret: string): void {
  const cursors = new SignedCursors(secret, "collection cursor");
  const pageOf = (request: FastifyRequest, answer: Entry, collection: string): Entry => {
    const { cursor, limit = LIMIT_MAX, ...others } = request.query as PageQuery & Entry;
    const entries = answer[collection] as readonly Entry[];
    const listing = [addressOf(request), viewerOf(request).id, Object.entries(others).sort()];
    const start = cursor === undefined ? 0 : startBehind(entries, cursors.decode(cursor, listing));
    const end = start + limit;
    const last = end < entries.length ? entries[end - 1] : undefined;
    const position = last && `${end}-${keyOf(last)}`;
    const next = position === undefined ? {} : { next_cursor: cursors.encode(position, listing) };
    const page_info: PageInfo = { has_next_page: last !== undefined, ...next };
    return { ...answer, [collection]: entries.slice(start, end), page_info };
  };
  app.addHook("preSerialization", (request, reply, payload, done) => {
    const { collection } = request.routeOptions.config;
    const { cursor, limit } = request.query as PageQuery;
    const isPaged = collection !== undefined && (cursor !== undefined || limit !== undefined);
    done(null, isPaged && reply.statusCode < 300 ? pageOf(request, payload as Entry, collection) : payload);
  });
}

function addressOf({ url }: FastifyRequest): string {
  return url.split("?", 1)[0] ?? "";
}

function startBehind(entries: readonly Entry[], position: string): number {
  const [end, key] = position.split("-");
  const index = entries.findIndex((entry) => keyOf(entry) === key);
  return index === -1 ? Number(end) - 1 : index + 1;
}

/** Names an entry. Two secrets may have the same name in different scopes. */
function keyOf({ id, name, scope, uid }: Entry): string {
  return hash("sha256", JSON.stringify([uid ?? id ?? [name, scope]]), "hex").slice(0, 16);
}
