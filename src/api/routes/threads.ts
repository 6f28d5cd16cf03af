import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { AppError } from "../../core/basics/errors.ts";
import type { RunId } from "../../core/basics/ids.ts";
import type { Viewer } from "../../core/model/people/principal.ts";
import { isVisible } from "../../core/model/policies/visibility.ts";
import type { StoredThread } from "../../core/model/threads/thread.ts";
import type { Storage } from "../../core/ports/stores/storage.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { only } from "../http/entity-tags.ts";
import { requireId, requireRunId } from "../schemas/ids.ts";
import { problems } from "../schemas/problem.ts";
import {
  ListThreadsQuery,
  ListThreadsResponse,
  ThreadChange,
  ThreadItem,
  threadItem,
} from "../schemas/thread.ts";
import { PageQuery, WHOLE } from "./collection-pages.ts";
import type { Idempotency } from "./idempotency.ts";

/** The newest notices of a run that wait. */
const PENDING_MAX = 100;
const tags = ["threads"];
const reading = { scope: "runs:read" } as const;
const edited = only("verbosity");
const writing = { scope: "runs:write", describedHeaders: ["Idempotency-Key"], edited } as const;

const LIST = {
  operationId: "listThreads",
  summary: "List the threads of a run",
  tags,
  querystring: ListThreadsQuery.extend(PageQuery.shape),
  response: { 200: ListThreadsResponse, ...problems(400, 401, 403, 404, 503) },
};
const params = z.object({ threadId: z.string().describe("The thread's id.") });
const GET = {
  operationId: "getThread",
  summary: "Get a thread",
  tags,
  params,
  response: { 200: ThreadItem, ...problems(401, 403, 404, 503) },
};
const UPDATE = {
  operationId: "updateThread",
  summary: "Change the verbosity of a thread",
  tags,
  params,
  body: ThreadChange,
  response: { 200: ThreadItem, ...problems(400, 401, 403, 404, 503) },
};

export function threadRoutes(
  { runs, storage }: Pick<ApiDeps, "runs" | "storage">,
  idempotency: Idempotency,
): FastifyPluginAsyncZod {
  const pendingOf = (viewer: Viewer, runId: RunId) =>
    storage.noticeLog.list({ teamId: viewer.teamId, runId, state: "pending", limit: PENDING_MAX });
  return async (app) => {
    app.get(
      "/agent/threads",
      { schema: LIST, config: { ...reading, collection: "threads" } },
      async (request) => {
        const viewer = viewerOf(request);
        const { id } = await runs.get({ id: requireRunId(request.query.run_id) }, viewer);
        const threads = await storage.threads.listOf(id);
        const pending = threads.length === 0 ? [] : await pendingOf(viewer, id);
        return { threads: threads.map((thread) => threadItem(thread, id, pending)), ...WHOLE };
      },
    );
    app.get("/agent/threads/:threadId", { schema: GET, config: { ...reading, edited } }, async (request) => {
      const viewer = viewerOf(request);
      const { thread, runId } = await requireThread(storage, viewer, requireThreadId(request.params));
      return threadItem(thread, runId, await pendingOf(viewer, runId));
    });
    app.patch("/agent/threads/:threadId", { schema: UPDATE, config: writing }, async (request, reply) => {
      const id = requireThreadId(request.params);
      const viewer = viewerOf(request);
      const { verbosity } = request.body;
      return idempotency.writeOnce(request, reply, {
        operation: "threads.update",
        target: id,
        current: async (stores) => {
          const { thread, runId } = await requireThread(stores, viewer, id);
          return threadItem(thread, runId);
        },
        perform: async (stores) => {
          const { thread, runId } = await requireThread(stores, viewer, id);
          await stores.threads.setVerbosity(id, verbosity);
          return threadItem({ ...thread, verbosity }, runId);
        },
      });
    });
  };
}

function requireThreadId({ threadId }: z.output<typeof params>): string {
  return requireId(threadId, "thread");
}

/** A viewer may read and change a thread if they can see its current run. */
async function requireThread(
  { runs, threads }: Storage,
  viewer: Viewer,
  id: string,
): Promise<{ readonly thread: StoredThread; readonly runId: RunId }> {
  const thread = await threads.findById(id);
  const run = thread?.runId === undefined ? undefined : await runs.find({ id: thread.runId });
  if (thread !== undefined && run !== undefined && isVisible(run, viewer)) {
    return { thread, runId: run.id };
  }
  throw new AppError("resource_not_found", "There is no such thread.");
}
