import { Readable } from "node:stream";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { invalidMember } from "../../core/basics/errors.ts";
import { parseRunId } from "../../core/basics/ids.ts";
import type { Viewer } from "../../core/model/people/principal.ts";
import type { Run } from "../../core/model/runs/run.ts";
import {
  newestRunOf,
  type ConversationQuery as PartOfConversation,
  readConversation,
} from "../../core/requests/conversations/read-conversation.ts";
import {
  TIMELINE_KINDS,
  type TimelineEntry,
  timelineOf,
} from "../../core/requests/conversations/timeline.ts";
import { eventPages } from "../../core/runs/event-pages.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { audienceOf, visibleLog } from "../events/visible-log.ts";
import type { ResponseMemory } from "../http/response-memory.ts";
import { ConversationResponse, conversationOf } from "../schemas/conversation.ts";
import { ConversationParams, RunParams, requireId, requireRunId } from "../schemas/ids.ts";
import { numberInQuery } from "../schemas/list-runs.ts";
import { problems } from "../schemas/problem.ts";
import { RunTimeline, timelineEventOf } from "../schemas/timeline.ts";

const config = { scope: "runs:read" } as const;
const configOfRun = { ...config, acceptsGuest: "any" } as const;

const STEPS_MAX = 500;
const ConversationQuery = z.object({
  limit: numberInQuery(1, STEPS_MAX)
    .optional()
    .describe("The maximum number of steps: the last ones. Default: all steps."),
  before: z.string().optional().describe("The id of a step: only the steps before it."),
});

const OF_RUN = {
  operationId: "getRunConversation",
  summary: "Get the conversation of a run",
  description:
    "Contains the first 32 Mi characters of follow-ups and of the output of agents and commands. An event `left_out` " +
    "tells how many other events of a run are missing; the transcript of the run contains them.",
  tags: ["conversations"],
  params: RunParams,
  querystring: ConversationQuery,
  response: { 200: ConversationResponse, ...problems(400, 401, 404, 503) },
};
const BY_ID = {
  ...OF_RUN,
  operationId: "getConversation",
  summary: "Get a conversation, with the runs that you can see",
  params: ConversationParams,
};
const TIMELINE = {
  operationId: "getRunTimeline",
  summary: "Get the steps of a run from its creation to its end",
  tags: ["runs"],
  params: RunParams,
  response: { 200: RunTimeline, ...problems(401, 404, 503) },
};

interface ConversationRouteDeps extends Pick<ApiDeps, "runs" | "storage"> {
  readonly memory: Pick<ResponseMemory, "counted">;
}

export function conversationRoutes({ memory, runs, storage }: ConversationRouteDeps): FastifyPluginAsyncZod {
  const reading = { runs, positions: storage.runs, followUps: storage.followUps };
  return async (app) => {
    app.get(
      "/agent/runs/:runId/conversation",
      { schema: OF_RUN, config: configOfRun },
      async (request, reply) => {
        const viewer = viewerOf(request);
        const { conversationId } = await runs.get({ id: requireRunId(request.params.runId) }, viewer);
        const log = memory.counted(visibleLog(runs, audienceOf(viewer)), request, reply);
        const query = partIn(request.query);
        return conversationOf(await readConversation({ ...reading, log }, conversationId, viewer, query));
      },
    );
    app.get("/agent/conversations/:conversationId", { schema: BY_ID, config }, async (request, reply) => {
      const id = requireId(request.params.conversationId, "conversation");
      const query = partIn(request.query);
      const log = memory.counted(runs, request, reply);
      return conversationOf(await readConversation({ ...reading, log }, id, viewerOf(request), query));
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

/** The id of a step is the id of its run and its number. */
function partIn({ before, limit }: z.output<typeof ConversationQuery>): PartOfConversation {
  const [, run = "", turn = ""] = /^([^:]*):([1-9]\d{0,8})$/.exec(before ?? "") ?? [];
  const runId = parseRunId(run);
  if (before !== undefined && runId === undefined) {
    throw invalidMember("before", "must be the id of a step of this conversation");
  }
  return defined({ limit, before: runId === undefined ? undefined : { runId, turn: Number(turn) } });
}

/** Returns the run after which a conversation can be continued. */
export function findContinued({ runs }: Pick<ApiDeps, "runs">, id: string, viewer: Viewer): Promise<Run> {
  return newestRunOf(runs, requireId(id, "conversation"), viewer);
}

/** Formats a `RunTimeline` as JSON, one event at a time. */
async function* timelineText(entries: AsyncIterable<TimelineEntry>): AsyncGenerator<string> {
  let before = '{"events":[';
  for await (const entry of entries) {
    const event = timelineEventOf(entry);
    if (event !== undefined) {
      yield `${before}${JSON.stringify(event)}`;
      before = ",";
    }
  }
  yield before === "," ? "]}" : `${before}]}`;
}
