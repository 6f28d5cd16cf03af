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
import { requireId } from "./ids.ts";
import { RunParams, requireRunId } from "./run-ids.ts";

const config = { scope: "runs:read", acceptsCookie: true } as const;
const configOfRun = { ...config, acceptsGuest: true } as const;
const ConversationParams = z.object({ conversationId: z.string().describe("A UUID.") });

const OF_RUN = {
  operationId: "getRunConversation",
  summary: "The conversation that a run belongs to",
  description:
    "Of what its agents and commands said, the first 32 Mi characters. An event `left_out` says how many events of a run " +
    "came behind; its transcript has them.",
  tags: ["conversations"],
  params: RunParams,
  response: { 200: ConversationResponse, ...problems(401, 404, 503) },
};
const BY_ID = {
  ...OF_RUN,
  operationId: "getConversation",
  summary: "A conversation, as far as its runs may be seen",
  params: ConversationParams,
};
const TIMELINE = {
  operationId: "getRunTimeline",
  summary: "What happened to a run, without what its agent said and did",
  tags: ["runs"],
  params: RunParams,
  response: { 200: RunTimeline, ...problems(401, 404, 503) },
};

export function conversationRoutes({ runs }: ApiDeps): FastifyPluginAsyncZod {
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
      // A stream, since nothing bounds what a run is told in its life.
      const text = Readable.from(timelineText(timelineOf(pages)));
      await reply.type("application/json; charset=utf-8").send(text as never);
      return reply;
    });
  };
}

/** The run behind which a conversation can be gone on with. */
export function findContinued({ runs }: Pick<ApiDeps, "runs">, id: string, viewer: Viewer): Promise<Run> {
  return newestRunOf(runs, requireId(id, "conversation"), viewer);
}

/** A `RunTimeline` as JSON, event by event. */
async function* timelineText(entries: AsyncIterable<TimelineEntry>): AsyncGenerator<string> {
  let before = '{"events":[';
  for await (const entry of entries) {
    yield `${before}${JSON.stringify(timelineEventOf(entry))}`;
    before = ",";
  }
  yield before === "," ? "]}" : `${before}]}`;
}
