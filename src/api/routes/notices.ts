import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import { parseId, parseRunId, type TeamId } from "../../core/basics/ids.ts";
import type { LoggedNotice, NoticeQuery } from "../../core/ports/stores/notice-log.ts";
import type { Storage } from "../../core/ports/stores/storage.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { SignedCursors } from "../http/cursors.ts";
import { requireId } from "../schemas/ids.ts";
import { ListNoticesQuery, ListNoticesResponse, NoticeItem, noticeItem } from "../schemas/notices.ts";
import { problems } from "../schemas/problem.ts";
import type { Idempotency } from "./idempotency.ts";

const PATH = "/agent/notices";
const tags = ["threads"];

const LIST = {
  operationId: "listNotices",
  summary: "List the messages to threads and their delivery",
  tags,
  querystring: ListNoticesQuery,
  response: { 200: ListNoticesResponse, ...problems(400, 401, 403, 503) },
};
const RETRY = {
  operationId: "retryNotice",
  summary: "Deliver a notice again that was given up",
  description: "A card with a newer card becomes `replaced`, because the newer one must stay.",
  tags,
  params: z.object({ noticeId: z.string().describe("The notice's id.") }),
  response: { 202: NoticeItem, ...problems(401, 403, 404, 409, 422, 503) },
};

export function noticeRoutes(
  { sessionSecret, storage }: Pick<ApiDeps, "sessionSecret" | "storage">,
  idempotency: Idempotency,
): FastifyPluginAsyncZod {
  const cursors = new SignedCursors(sessionSecret, "notice cursor");
  return async (app) => {
    const reading = { scope: "admin" } as const;
    app.get(PATH, { schema: LIST, config: reading }, async (request): Promise<ListNoticesResponse> => {
      const { cursor, limit } = request.query;
      const query = queryOf(request.query, viewerOf(request).teamId);
      if (query === undefined) {
        return { notices: [], page_info: { has_next_page: false } };
      }
      const before = cursor === undefined ? {} : { before: BigInt(cursors.decode(cursor, [query])) };
      // One more than the page has, to find out whether there is a next page.
      const rows = await storage.noticeLog.list({ ...query, ...before, limit: limit + 1 });
      const { page, page_info } = cursors.page(rows, limit, [query]);
      return { notices: page.map(noticeItem), page_info };
    });
    const writing = { scope: "admin", describedHeaders: ["Idempotency-Key"] } as const;
    app.post(`${PATH}/:noticeId/retry`, { schema: RETRY, config: writing }, async (request, reply) => {
      const id = requireId(request.params.noticeId, "notice");
      const { teamId } = viewerOf(request);
      return idempotency.writeOnce(request, reply, {
        operation: "notices.retry",
        target: id,
        status: 202,
        perform: async (stores) => noticeItem(await retried(stores, teamId, id)),
      });
    });
  };
}

/** Returns undefined if no notice can match. */
function queryOf(
  { run_id, state, thread_id }: ListNoticesQuery,
  teamId: TeamId,
): Omit<NoticeQuery, "limit" | "before"> | undefined {
  const runId = run_id === undefined ? undefined : parseRunId(run_id);
  const threadId = thread_id === undefined ? undefined : parseId(thread_id);
  if ((run_id !== undefined && runId === undefined) || (thread_id !== undefined && threadId === undefined)) {
    return undefined;
  }
  return defined({
    teamId,
    runId,
    threadId: threadId ? threadId : undefined,
    state,
  });
}

async function retried({ noticeLog }: Storage, teamId: TeamId, id: string): Promise<LoggedNotice> {
  const find = async () => {
    const notice = await noticeLog.find(teamId, id);
    if (notice === undefined) {
      throw new AppError("resource_not_found", "There is no such notice.");
    }
    return notice;
  };
  const { state } = await find();
  if (!(await noticeLog.retry(id))) {
    const message = `Only a dead notice can be delivered again, and this one is ${state}.`;
    throw new AppError("conflict", message, { retryable: false });
  }
  return find();
}
