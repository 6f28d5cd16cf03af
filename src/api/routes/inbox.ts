import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { parseRunId } from "../../core/ids.ts";
import type { InboxQuery } from "../../core/inbox/inbox-log.ts";
import { isOperator, type Viewer } from "../../core/people/principal.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { SignedPlaces } from "../auth/signed-place.ts";
import { inboxItem, ListInboxQuery, ListInboxResponse, OPEN } from "../schemas/inbox.ts";
import { problems } from "../schemas/problem.ts";

const LIST = {
  operationId: "listInbox",
  summary: "List incoming events and their results",
  description: "Operators also see events whose team is not known yet.",
  tags: ["threads"],
  querystring: ListInboxQuery,
  response: { 200: ListInboxResponse, ...problems(400, 401, 403, 503) },
};

export function inboxRoutes({
  sessionSecret,
  storage,
}: Pick<ApiDeps, "sessionSecret" | "storage">): FastifyPluginAsyncZod {
  const places = new SignedPlaces(sessionSecret, "inbox cursor");
  return async (app) => {
    const config = { scope: "admin", acceptsCookie: true } as const;
    app.get("/agent/inbox", { schema: LIST, config }, async (request): Promise<ListInboxResponse> => {
      const { cursor, limit } = request.query;
      const query = queryOf(request.query, viewerOf(request));
      if (query === undefined) {
        return { events: [], page_info: { has_next_page: false } };
      }
      const before = cursor === undefined ? {} : { before: BigInt(places.decode(cursor, [query])) };
      // One more than the page has, to find out whether there is a next page.
      const rows = await storage.inboxLog.list({ ...query, ...before, limit: limit + 1 });
      const page = rows.slice(0, limit);
      const last = rows.length > limit ? page.at(-1) : undefined;
      const next = last === undefined ? {} : { next_cursor: places.encode(String(last.seq), [query]) };
      return { events: page.map(inboxItem), page_info: { has_next_page: last !== undefined, ...next } };
    });
  };
}

type Listing = Omit<InboxQuery, "limit" | "before">;

/** Returns undefined if no run can have the given id. */
function queryOf({ disposition, integration, run_id }: ListInboxQuery, viewer: Viewer): Listing | undefined {
  const runId = run_id === undefined ? undefined : parseRunId(run_id);
  if (run_id !== undefined && runId === undefined) {
    return undefined;
  }
  return {
    teamId: viewer.teamId,
    withUnknownTeam: isOperator(viewer),
    ...(disposition === undefined ? {} : { disposition: disposition === OPEN ? null : disposition }),
    ...(integration === undefined ? {} : { adapter: integration }),
    ...(runId === undefined ? {} : { runId }),
  };
}
