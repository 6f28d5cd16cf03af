import { Readable } from "node:stream";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { newestRunOf, readConversation } from "../../core/conversations/read-conversation.ts";
import { TIMELINE_KINDS, type TimelineEntry, timelineOf } from "../../core/conversations/timeline.ts";
import type { Viewer } from "../../core/people/principal.ts";
import { eventPages } from "../../core/runs/event-pages.ts";
import type { Run } from "../../core/runs/run.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { audienceOf, visibleLog } from "../events/visible-log.ts";
import { ConversationResponse, conversationOf } from "../schemas/conversation.ts";
import { problems } from "../schemas/problem.ts";
import { RunTimeline, timelineEventOf } from "../schemas/timeline.ts";
import { RunParams, requireId, requireRunId } from "./ids.ts";

const config = { scope: "runs:read", acceptsCookie: true } as const;
const configOfRun = { ...config, acceptsGuest: "any" } as const;
const ConversationParams = z.object({ conversationId: z.string().describe("A UUID.") });

const OF_RUN = {
  operationId: "getRunConversation",
  summary: "Get the conversation of a run",
  description:
    "Contains the first 32 Mi characters of the output of agents and commands. An event `left_out` tells how " +
    "many later events of a run are missing; the transcript of the run contains them.",
  tags: ["conversations"],
  params: RunParams,
  response: { 200: ConversationResponse, ...problems(401, 404, 503) },
};
const BY_ID = {
  ...OF_RUN,
  operationId: "getConversation",
  summary: "Get a conversation, with the runs that you can see",
  params: ConversationParams,
};
const TIMELINE = {
  operationId: "getRunTimeline",
  summary: "Get the history of a run, without the messages and actions of its agent",
  tags: ["runs"],
  params: RunParams,
  response: { 200: RunTimeline, ...problems(401, 404, 503) },
};

export function conversationRoutes({ runs }: Pick<ApiDeps, "runs">): FastifyPluginAsyncZod {
  return async (app) => {
    app.get("/agent/runs/:runId/conversation", { schema: OF_RUN, config: configOfRun }, async (request) => {
      const viewer = viewerOf(request);
      const { conversationId } = await runs.get({ id: requireRunId(request.params.runId) }, viewer);
      return conversationOf(
        await readConversation({ runs, log: visibleLog(runs, audienceOf(viewer)) }, conversationId, viewer),
      );
    });
    app.get("/agent/conversations/:conversationId", { schema: BY_ID, config }, async (request) => {
      const id = requireId(request.params.conversationId, "conversation");
      return conversationOf(await readConversation({ runs, log: runs }, id, viewerOf(request)));
    });
    const timeline = { schema: TIMELINE, config: configOfRun, exposeHeadRoute: false };
    app.get("/agent/runs/:runId/timeline", timeline, async (request, reply) => {
      const viewer = viewerOf(request);
      const run = await runs.get({ id: requireRunId(request.params.runId) }, viewer);
      const pages = eventPages(visibleLog(runs, audienceOf(viewer)), { ...run, kinds: TIMELINE_KINDS });
      // Streamed, because the number of events of a run has no limit.
      const text = Readable.from(timelineText(timelineOf(pages)));
      await reply.type("application/json; charset=utf-8").send(text as never);
      return reply;
    });
  };
}

/** Returns the run after which a conversation can be continued. */
export function findContinued({ runs }: Pick<ApiDeps, "runs">, id: string, viewer: Viewer): Promise<Run> {
  return newestRunOf(runs, requireId(id, "conversation"), viewer);
}

/** Formats a `RunTimeline` as JSON, one event at a time. */
async function* timelineText(entries: AsyncIterable<TimelineEntry>): AsyncGenerator<string> {
  let before = '{"events":[';
  for await (const entry of entries) {
    yield `${before}${JSON.stringify(timelineEventOf(entry))}`;
    before = ",";
  }
  yield before === "," ? "]}" : `${before}]}`;
}
