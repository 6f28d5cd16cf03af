import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import { parseRunId } from "../../core/basics/ids.ts";
import { isOperator, type Viewer } from "../../core/model/people/principal.ts";
import type { InboxEntry, InboxQuery } from "../../core/ports/stores/inbox-store.ts";
import type { Storage } from "../../core/ports/stores/storage.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { SignedCursors } from "../http/cursors.ts";
import { requireId } from "../schemas/ids.ts";
import { InboxItem, inboxItem, ListInboxQuery, ListInboxResponse, OPEN } from "../schemas/inbox.ts";
import { problems } from "../schemas/problem.ts";
import type { Idempotency } from "./idempotency.ts";

const LIST = {
  operationId: "listInbox",
  summary: "List incoming events and their results",
  description: "Operators also see events whose team is not known yet.",
  tags: ["threads"],
  querystring: ListInboxQuery,
  response: { 200: ListInboxResponse, ...problems(400, 401, 403, 503) },
};

const RETRY = {
  operationId: "retryInboxEvent",
  summary: "Process a failed event again",
  description: "The event is processed once, before later events of its conversation that still wait.",
  tags: ["threads"],
  params: z.object({ eventId: z.string().describe("The event's id.") }),
  response: { 202: InboxItem, ...problems(401, 403, 404, 409, 422, 503) },
};

export function inboxRoutes(
  { sessionSecret, storage }: Pick<ApiDeps, "sessionSecret" | "storage">,
  idempotency: Idempotency,
): FastifyPluginAsyncZod {
  const cursors = new SignedCursors(sessionSecret, "inbox cursor");
  return async (app) => {
    const config = { scope: "admin" } as const;
    app.get("/agent/inbox", { schema: LIST, config }, async (request): Promise<ListInboxResponse> => {
      const { cursor, limit } = request.query;
      const query = queryOf(request.query, viewerOf(request));
      if (query === undefined) {
        return { events: [], page_info: { has_next_page: false } };
      }
      const before = cursor === undefined ? {} : { before: BigInt(cursors.decode(cursor, [query])) };
      // One more than the page has, to find out whether there is a next page.
      const rows = await storage.inboxList.list({ ...query, ...before, limit: limit + 1 });
      const { page, page_info } = cursors.page(rows, limit, [query]);
      return { events: page.map(inboxItem), page_info };
    });
    const writing = { scope: "admin", describedHeaders: ["Idempotency-Key"] } as const;
    app.post("/agent/inbox/:eventId/retry", { schema: RETRY, config: writing }, async (request, reply) => {
      const id = requireId(request.params.eventId, "event");
      const viewer = viewerOf(request);
      return idempotency.writeOnce(request, reply, {
        operation: "inbox.retry",
        target: id,
        status: 202,
        perform: async (stores) => inboxItem(await retried(stores, viewer, id)),
      });
    });
  };
}

async function retried(
  { inbox, inboxList: inboxLog }: Storage,
  viewer: Viewer,
  id: string,
): Promise<InboxEntry> {
  const find = async () => {
    const event = await inboxLog.find({ teamId: viewer.teamId, withUnknownTeam: isOperator(viewer) }, id);
    if (event === undefined) {
      throw new AppError("resource_not_found", "There is no such event.");
    }
    return event;
  };
  const { disposition = OPEN } = await find();
  if (!(await inbox.retry(id))) {
    const message = `Only a failed event can be processed again, and the result of this one is ${disposition}.`;
    throw new AppError("conflict", message, { retryable: false });
  }
  return find();
}

type Listing = Omit<InboxQuery, "limit" | "before">;

/** Returns undefined if no run can have the given id. */
function queryOf({ disposition, integration, run_id }: ListInboxQuery, viewer: Viewer): Listing | undefined {
  const runId = run_id === undefined ? undefined : parseRunId(run_id);
  if (run_id !== undefined && runId === undefined) {
    return undefined;
  }
  return defined({
    teamId: viewer.teamId,
    withUnknownTeam: isOperator(viewer),
    disposition: disposition === undefined ? undefined : disposition === OPEN ? null : disposition,
    adapter: integration,
    runId,
  });
}
