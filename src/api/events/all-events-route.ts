import type { FastifyReply, FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { invalidMember } from "../../core/errors.ts";
import type { EventLogPosition } from "../../core/runs/event-log.ts";
import { type ApiDeps, limitsOf } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { limitInQuery } from "../schemas/list-runs.ts";
import { problems } from "../schemas/problem.ts";
import { LoggedEventPage } from "../schemas/run-event.ts";
import type { EventStream } from "./event-stream.ts";
import { loggedEventJson, resetText } from "./event-text.ts";
import { type FollowingAll, followAll } from "./follow-all.ts";
import { decodeCursor, encodeCursor, START_CURSOR } from "./log-cursor.ts";
import type { OpenStreams } from "./open-streams.ts";
import { wantsPage } from "./wants-page.ts";

const PAGE_MAX = 500;
const PAGE_DEFAULT = 200;

const Query = z.object({
  after: z
    .string()
    .optional()
    .describe(
      `The id of the last event that was seen, or \`${START_CURSOR}\`. Without it: what comes from now on.`,
    ),
  limit: limitInQuery(PAGE_MAX, PAGE_DEFAULT).describe(
    "How many events a page looks at, fewer when they are long (1 MiB); those of runs you do not see are left out. A " +
      "stream has no limit.",
  ),
});
type Query = z.output<typeof Query>;

const SCHEMA = {
  operationId: "getEvents",
  summary: "The events of all runs you see, live or by the page",
  description:
    "An event stream like that of one run, without an end. `id` is an opaque cursor in the order of commit: an event " +
    "that a slow transaction commits late is never passed over. With `Last-Event-ID` (or `after`) it goes on where " +
    "another one ended. A cursor that is not known here gives a `reset` event: its `id` is where the stream goes on, " +
    "and what you keep should be read anew. With `Accept: application/json`, a page.",
  tags: ["runs"],
  querystring: Query,
  response: {
    200: {
      description: "The events behind `after`.",
      content: {
        "text/event-stream": { schema: z.string() },
        "application/json": { schema: LoggedEventPage },
      },
    },
    ...problems(400, 401, 403, 429, 503),
  },
};

export function allEventsRoute(deps: ApiDeps, streams: OpenStreams): FastifyPluginAsyncZod {
  const limits = limitsOf(deps);
  const config = { scope: "runs:read", acceptsCookie: true, describedHeaders: ["Last-Event-ID"] } as const;
  return async (app) => {
    const route = { schema: SCHEMA, config, exposeHeadRoute: false };
    app.get("/agent/events", route, async (request, reply) => {
      if (wantsPage(request)) return pageOf(deps, request, request.query, reply);
      const { isReset, place } = await startOf(deps, request, request.query);
      const stream = streams.open(request, reply);
      if (isReset) stream.write(resetText(encodeCursor(place)));
      void tellAll(deps, stream, { viewer: viewerOf(request), after: place, pollMs: limits.pollMs });
      return reply;
    });
  };
}

async function tellAll(
  deps: ApiDeps,
  stream: EventStream,
  following: Omit<FollowingAll, "signal">,
): Promise<void> {
  const over = new AbortController();
  stream.onceOver(() => over.abort());
  try {
    for await (const text of followAll(deps, { ...following, signal: over.signal })) {
      if (!stream.write(text) && !(await stream.drained())) return;
    }
  } catch (error) {
    stream.fail(error);
  }
}

async function pageOf(
  { storage }: ApiDeps,
  request: FastifyRequest,
  { after, limit }: Query,
  reply: FastifyReply,
): Promise<LoggedEventPage> {
  reply.type("application/json; charset=utf-8");
  const place = after === undefined ? await storage.log.end() : requirePlace(after);
  const { events, hasMore, next } = await storage.log.read(place, limit, viewerOf(request));
  return { events: events.map(loggedEventJson), next_after: encodeCursor(next), has_more: hasMore };
}

/** The header wins: a browser that reconnects sends it, and the address still holds where it first began. */
async function startOf(
  { storage: { log } }: ApiDeps,
  { headers }: FastifyRequest,
  { after }: Query,
): Promise<{ readonly place: EventLogPosition; readonly isReset: boolean }> {
  const header = headers["last-event-id"];
  if (header === undefined || header === "") {
    const place = after === undefined ? await log.end() : requirePlace(after);
    return (await log.knows(place)) ? { place, isReset: false } : { place: await log.end(), isReset: true };
  }
  const place = decodeCursor(String(header));
  const isKnown = place !== undefined && (await log.knows(place));
  return isKnown ? { place, isReset: false } : { place: await log.end(), isReset: true };
}

function requirePlace(after: string): EventLogPosition {
  const place = decodeCursor(after);
  if (place !== undefined) return place;
  throw invalidMember("after", `must be the id of an event, or ${START_CURSOR}`);
}
