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
import { requireId, requireRunId } from "../schemas/ids.ts";
import { problems } from "../schemas/problem.ts";
import {
  ListThreadsQuery,
  ListThreadsResponse,
  ThreadChange,
  ThreadItem,
  threadItem,
} from "../schemas/thread.ts";
import type { Idempotency } from "./idempotency.ts";

const tags = ["threads"];
const reading = { scope: "runs:read" } as const;
const writing = { scope: "runs:write", describedHeaders: ["Idempotency-Key"] } as const;

const LIST = {
  operationId: "listThreads",
  summary: "List the threads of a run",
  tags,
  querystring: ListThreadsQuery,
  response: { 200: ListThreadsResponse, ...problems(400, 401, 403, 404, 503) },
};
const UPDATE = {
  operationId: "updateThread",
  summary: "Change the verbosity of a thread",
  tags,
  params: z.object({ threadId: z.string().describe("The thread's id.") }),
  body: ThreadChange,
  response: { 200: ThreadItem, ...problems(400, 401, 403, 404, 503) },
};

export function threadRoutes(
  { runs, storage }: Pick<ApiDeps, "runs" | "storage">,
  idempotency: Idempotency,
): FastifyPluginAsyncZod {
  return async (app) => {
    app.get("/agent/threads", { schema: LIST, config: reading }, async (request) => {
      const { id } = await runs.get({ id: requireRunId(request.query.run_id) }, viewerOf(request));
      const threads = await storage.threads.listOf(id);
      return { threads: threads.map((thread) => threadItem(thread, id)) };
    });
    app.patch("/agent/threads/:threadId", { schema: UPDATE, config: writing }, async (request, reply) => {
      const id = requireId(request.params.threadId, "thread");
      const viewer = viewerOf(request);
      const { verbosity } = request.body;
      return idempotency.writeOnce(request, reply, {
        operation: "threads.update",
        target: id,
        perform: async (stores) => {
          const { thread, runId } = await requireThread(stores, viewer, id);
          await stores.threads.setVerbosity(id, verbosity);
          return threadItem({ ...thread, verbosity }, runId);
        },
      });
    });
  };
}

/** A viewer may change a thread if they can see its current run. */
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
