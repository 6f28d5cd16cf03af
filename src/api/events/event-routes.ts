import type { FastifyReply, FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import type { Run } from "../../core/runs/run.ts";
import { type ApiParts, limitsOf } from "../api-parts.ts";
import { viewerOf } from "../auth.ts";
import { invalid } from "../request-validation.ts";
import { RunParams, requireRunId } from "../routes/run-ids.ts";
import { numberInQuery } from "../schemas/list-runs.ts";
import { problems } from "../schemas/problem.ts";
import { RunEventPage } from "../schemas/run-event.ts";
import { eventJson } from "./event-text.ts";
import { OpenStreams } from "./open-streams.ts";
import { streamEvents } from "./stream-events.ts";

const PAGE_MAX = 500;
const PAGE_DEFAULT = 200;
const SEQ_MAX = 2 ** 31 - 1;

const EventsQuery = z.object({
  after: numberInQuery(0, SEQ_MAX)
    .optional()
    .describe("The sequence number of the last event that was seen."),
  limit: numberInQuery(1, PAGE_MAX).default(PAGE_DEFAULT).describe("Of a page; a stream has none."),
  follow: z
    .enum(["true", "false"])
    .default("false")
    .describe("true: the stream goes on when the run has ended."),
});
type EventsQuery = z.output<typeof EventsQuery>;

const SCHEMA = {
  operationId: "getRunEvents",
  summary: "The events of a run, live or by the page",
  description:
    "An event stream: `id` is the sequence number, `event` the kind, `data` the event as JSON. With " +
    "`Last-Event-ID` (or `after`) it goes on where another one ended. It ends after the last event of a run that " +
    "has ended. With `Accept: application/json`, a page.",
  tags: ["runs"],
  params: RunParams,
  querystring: EventsQuery,
  response: {
    200: {
      description: "The events behind `after`.",
      content: {
        "text/event-stream": { schema: z.string() },
        "application/json": { schema: RunEventPage },
      },
    },
    ...problems(400, 401, 404, 429, 503),
  },
};

export function eventRoutes(parts: ApiParts): FastifyPluginAsyncZod {
  const limits = limitsOf(parts);
  const streams = new OpenStreams(limits.streamsPerPrincipal);
  const config = { scope: "runs:read", acceptsCookie: true, describedHeaders: ["Last-Event-ID"] } as const;
  return async (app) => {
    app.addHook("preClose", async () => streams.endAll());
    const route = { schema: SCHEMA, config, exposeHeadRoute: false };
    app.get("/agent/runs/:runId/events", route, async (request, reply) => {
      const run = await parts.runs.get({ id: requireRunId(request.params.runId) }, viewerOf(request));
      const after = positionOf(request, request.query, run);
      if (wantsPage(request)) return pageOf(parts, run, after, request.query, reply);
      const follow = request.query.follow === "true";
      await streamEvents(parts, { limits, streams, request, reply, run, after, follow });
      return reply;
    });
  };
}

async function pageOf(
  { runs }: ApiParts,
  { id }: Run,
  after: number,
  { limit }: EventsQuery,
  reply: FastifyReply,
): Promise<RunEventPage> {
  reply.type("application/json; charset=utf-8");
  const events = await runs.readEvents(id, after, limit);
  return { events: events.map(eventJson), next_after: events.at(-1)?.seq ?? after };
}

/** The header wins: a browser that reconnects sends it, and the address still holds where it first began. */
function positionOf({ headers }: FastifyRequest, { after = 0 }: EventsQuery, { lastSeq }: Run): number {
  const header = headers["last-event-id"];
  const given = header === undefined || header === "" ? String(after) : String(header);
  if (/^\d{1,9}$/.test(given) && Number(given) <= lastSeq) return Number(given);
  const message = `must be the number of an event of this run, and the newest is ${lastSeq}`;
  throw invalid([{ path: header === undefined ? "after" : "Last-Event-ID", message }]);
}

function wantsPage({ headers: { accept = "" } }: FastifyRequest): boolean {
  return /application\/(json|\*)/i.test(accept) && !/text\/event-stream/i.test(accept);
}
