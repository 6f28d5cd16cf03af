import type { FastifyReply, FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { invalidMember } from "../../core/basics/errors.ts";
import type { RunEvent } from "../../core/model/runs/events.ts";
import type { Run } from "../../core/model/runs/run.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { limitsOf } from "../http/api-limits.ts";
import { RunParams, requireRunId } from "../schemas/ids.ts";
import { limitInQuery, numberInQuery } from "../schemas/list-runs.ts";
import { problems } from "../schemas/problem.ts";
import { EventStreamText, RunEventPage } from "../schemas/run-event.ts";
import { allEventsRoute } from "./all-events-route.ts";
import { wantsPage } from "./event-stream.ts";
import { eventJson, resetText } from "./event-text.ts";
import { FollowedRuns } from "./followed-runs.ts";
import type { OpenStreams } from "./open-streams.ts";
import { audienceOf, visibleLog } from "./visible-log.ts";

const PAGE_MAX = 500;
const PAGE_DEFAULT = 200;
const SEQ_MAX = 2 ** 31 - 1;

const EventsQuery = z.object({
  after: numberInQuery(0, SEQ_MAX)
    .optional()
    .describe("The sequence number of the last event that you received."),
  before: numberInQuery(1, SEQ_MAX)
    .optional()
    .describe("The last events before the one with this sequence number. Only for pages."),
  tail: numberInQuery(1, PAGE_MAX)
    .optional()
    .describe("The last events, at most this many. A stream begins with them."),
  limit: limitInQuery(PAGE_MAX, PAGE_DEFAULT).describe(
    "The maximum number of events of a page. With `tail`, that number is the limit. A page is shorter if its events " +
      "are long (1 MiB). A stream has no limit.",
  ),
  follow: z
    .enum(["true", "false"])
    .default("false")
    .describe("true: the stream continues after the end of the run."),
});
type EventsQuery = z.output<typeof EventsQuery>;

const SCHEMA = {
  operationId: "getRunEvents",
  summary: "Get the events of a run, as a stream or by page",
  description:
    "An event stream: `id` is the sequence number, `event` the kind, `data` the event as JSON. With " +
    "`Last-Event-ID` (or `after`), the stream continues behind that event. If the run has no event with that " +
    "`Last-Event-ID`, the stream sends a `reset` event and then all events from the first one. The stream ends " +
    "after the event that ends the run; `attempt.ended` may come later and is in the log. With `Accept: " +
    "application/json`, the response is a page. At most one of `after`, `before` and `tail` is allowed.",
  tags: ["runs"],
  params: RunParams,
  querystring: EventsQuery,
  response: {
    200: {
      description: "The events, in the order of `seq`.",
      content: {
        "application/json": { schema: RunEventPage },
        "text/event-stream": { schema: EventStreamText },
      },
    },
    ...problems(400, 401, 403, 404, 429, 503),
  },
};

export function eventRoutes(deps: ApiDeps & { readonly streams: OpenStreams }): FastifyPluginAsyncZod {
  const { streams } = deps;
  const followed = new FollowedRuns(deps, limitsOf(deps.limits).pollMs);
  const reading = { scope: "runs:read", acceptsGuest: "any" } as const;
  const config = { ...reading, describedHeaders: ["Last-Event-ID"] };
  return async (app) => {
    await app.register(allEventsRoute(deps, streams));
    const route = { schema: SCHEMA, config, exposeHeadRoute: false };
    app.get("/agent/runs/:runId/events", route, async (request, reply) => {
      const run = await deps.runs.get({ id: requireRunId(request.params.runId) }, viewerOf(request));
      requireOnePosition(request.query);
      if (wantsPage(request)) {
        const log = visibleLog(deps.runs, audienceOf(viewerOf(request)));
        return pageOf(log, run, request.query, reply);
      }
      const { after, isReset } = startOf(request, request.query, run);
      const stream = streams.open(request, reply);
      if (isReset) {
        stream.write(resetText(after));
      }
      const follow = request.query.follow === "true";
      followed.follow(run, stream, { viewer: viewerOf(request), after, follow });
      return reply;
    });
  };
}

async function pageOf(
  log: ReturnType<typeof visibleLog>,
  run: Run,
  { after: afterInQuery, before, limit, tail }: EventsQuery,
  reply: FastifyReply,
): Promise<RunEventPage> {
  reply.type("application/json; charset=utf-8");
  if (before !== undefined || tail !== undefined) {
    const end = Math.min(before ?? Infinity, run.lastSeq + 1);
    return pageAround(await log.readEventsBefore(run.id, end, tail ?? limit), end - 1);
  }
  const after = requireSeq(afterInQuery, run);
  return pageAround(await log.readEvents(run.id, after, limit), after);
}

/** `seen` is the position of an empty page. */
function pageAround(events: readonly RunEvent[], seen: number): RunEventPage {
  const first = events[0]?.seq ?? seen + 1;
  return defined({
    events: events.map(eventJson),
    next_after: events.at(-1)?.seq ?? seen,
    next_before: first > 1 ? first : undefined,
  });
}

function requireOnePosition({ after, before, tail }: EventsQuery): void {
  if ([after, before, tail].filter((position) => position !== undefined).length > 1) {
    throw invalidMember("after", "must not be combined with before or tail, nor these with each other");
  }
}

/** The header takes precedence: a reconnecting browser sends it, and the query still has the original start. */
function startOf({ headers }: FastifyRequest, { after, before, tail }: EventsQuery, run: Run): StreamStart {
  if (before !== undefined) {
    throw invalidMember("before", "is only allowed with Accept: application/json");
  }
  const header = headers["last-event-id"];
  if (header === undefined || header === "") {
    if (tail !== undefined) {
      return { after: Math.max(0, run.lastSeq - tail), isReset: false };
    }
    return { after: requireSeq(after, run), isReset: false };
  }
  const isKnown = /^\d{1,9}$/.test(String(header)) && Number(header) <= run.lastSeq;
  return isKnown ? { after: Number(header), isReset: false } : { after: 0, isReset: true };
}

interface StreamStart {
  readonly after: number;
  /** True if the reader's last event does not exist in this run. The stream then starts from the first event. */
  readonly isReset: boolean;
}

function requireSeq(after = 0, { lastSeq }: Run): number {
  if (after <= lastSeq) {
    return after;
  }
  throw invalidMember("after", `must be the number of an event of this run, and the newest is ${lastSeq}`);
}
