import type { FastifyReply, FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { invalidMember } from "../../core/basics/errors.ts";
import { KeyedSemaphore } from "../../core/basics/keyed-semaphore.ts";
import type { Viewer } from "../../core/model/people/principal.ts";
import { CHANNELS } from "../../core/ports/pubsub.ts";
import type { EventLogPosition } from "../../core/ports/stores/event-log.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { limitsOf } from "../http/api-limits.ts";
import { limitInQuery } from "../schemas/list-runs.ts";
import { problems } from "../schemas/problem.ts";
import { EventStreamText, LoggedEventPage } from "../schemas/run-event.ts";
import { type EventStream, wantsPage } from "./event-stream.ts";
import { loggedEventJson, loggedEventText, positionText, resetText } from "./event-text.ts";
import { LogCursors, START_CURSOR } from "./log-cursor.ts";
import { ChangeSignal } from "./notifications.ts";
import type { OpenStreams } from "./open-streams.ts";

const PAGE_MAX = 500;
const PAGE_DEFAULT = 200;

const Query = z.object({
  after: z
    .string()
    .optional()
    .describe(
      `The id of the last event that you received, or \`${START_CURSOR}\`. Default: only new events.`,
    ),
  limit: limitInQuery(PAGE_MAX, PAGE_DEFAULT).describe(
    "The maximum number of events that a page reads. A page is shorter if its events are long (1 MiB). Events of " +
      "runs that you cannot see are left out. A stream has no limit.",
  ),
});
type Query = z.output<typeof Query>;

const SCHEMA = {
  operationId: "getEvents",
  summary: "Get the events of all visible runs, as a stream or by page",
  description:
    "An event stream like that of one run, but without an end. `id` is an opaque cursor in the order of commits, " +
    "so that no event is skipped, even if its transaction commits late. With `Last-Event-ID` (or `after`), the " +
    "stream continues behind that event. A stream begins with its position, as an `id` without an event, so that a " +
    "connection that breaks before the first event loses nothing. An unknown cursor results in a `reset` event: the stream continues " +
    "behind the `id` of that event, and clients should reload the data that they store. With `Accept: " +
    "application/json`, the response is a page.",
  tags: ["runs"],
  querystring: Query,
  response: {
    200: {
      description: "The events behind `after`.",
      content: {
        "application/json": { schema: LoggedEventPage },
        "text/event-stream": { schema: EventStreamText },
      },
    },
    ...problems(400, 401, 403, 429, 503),
  },
};

export function allEventsRoute(deps: ApiDeps, streams: OpenStreams): FastifyPluginAsyncZod {
  const limits = limitsOf(deps.limits);
  const cursors = new LogCursors(deps);
  const reads = new KeyedSemaphore(1);
  const reading = { storage: deps.storage, cursors };
  const config = { scope: "runs:read", describedHeaders: ["Last-Event-ID"] } as const;
  return async (app) => {
    const route = { schema: SCHEMA, config, exposeHeadRoute: false };
    app.get("/agent/events", route, async (request, reply) => {
      if (wantsPage(request)) {
        return pageOf(reading, request, request.query, reply);
      }
      const { isReset, position } = await startOf(reading, request, request.query);
      const stream = streams.open(request, reply);
      const cursor = cursors.seal(position);
      stream.write(isReset ? resetText(cursor) : positionText(cursor));
      const { pollMs } = limits;
      void writeAll(deps, stream, { viewer: viewerOf(request), after: position, cursors, pollMs, reads });
      return reply;
    });
  };
}

async function writeAll(
  deps: ApiDeps,
  stream: EventStream,
  following: Omit<FollowingAll, "signal">,
): Promise<void> {
  const over = new AbortController();
  stream.onceOver(() => over.abort());
  try {
    for await (const text of followAll(deps, { ...following, signal: over.signal })) {
      if (!stream.write(text) && !(await stream.drained())) {
        return;
      }
    }
  } catch (error) {
    stream.fail(error);
  }
}

interface ReadingDeps extends Pick<ApiDeps, "storage"> {
  readonly cursors: LogCursors;
}

async function pageOf(
  { cursors, storage }: ReadingDeps,
  request: FastifyRequest,
  { after, limit }: Query,
  reply: FastifyReply,
): Promise<LoggedEventPage> {
  reply.type("application/json; charset=utf-8");
  const position = after === undefined ? await storage.eventLog.end() : requirePosition(after, cursors);
  const { events, hasMore, next } = await storage.eventLog.read(position, limit, viewerOf(request));
  return {
    events: events.map((logged) => loggedEventJson(logged, cursors)),
    next_after: cursors.seal(next),
    has_more: hasMore,
  };
}

/** The header takes precedence: a reconnecting browser sends it, and the query still has the original start. */
async function startOf(
  { cursors, storage: { eventLog: log } }: ReadingDeps,
  { headers }: FastifyRequest,
  { after }: Query,
): Promise<{ readonly position: EventLogPosition; readonly isReset: boolean }> {
  const header = headers["last-event-id"];
  if (header === undefined || header === "") {
    const position = after === undefined ? await log.end() : requirePosition(after, cursors);
    return (await log.knows(position))
      ? { position, isReset: false }
      : { position: await log.end(), isReset: true };
  }
  const position = cursors.decode(String(header));
  const isKnown = position !== undefined && (await log.knows(position));
  return isKnown ? { position, isReset: false } : { position: await log.end(), isReset: true };
}

function requirePosition(after: string, cursors: LogCursors): EventLogPosition {
  const position = cursors.decode(after);
  if (position !== undefined) {
    return position;
  }
  throw invalidMember("after", `must be the id of an event, or ${START_CURSOR}`);
}

const PAGE = 200;
/** The wait for events that are held back until an earlier transaction ends. */
const HELD_BACK_MS = 25;

export interface FollowingAll {
  readonly viewer: Viewer;
  readonly after: EventLogPosition;
  readonly pollMs: number;
  readonly signal: AbortSignal;
  readonly cursors: Pick<LogCursors, "encode">;
  /**
   * Lets each principal read one page at a time, however many streams it has. A stream of a principal that sees few
   * runs reads page after page without a pause, and would otherwise keep the database from other callers.
   */
  readonly reads: KeyedSemaphore;
}

/** Yields the events of all runs that the viewer can see, behind `after`, each once and in the order of the log. */
export async function* followAll(
  { storage, pubsub }: Pick<ApiDeps, "storage" | "pubsub">,
  { after, cursors, pollMs, reads, signal, viewer }: FollowingAll,
): AsyncGenerator<string> {
  const changes = new ChangeSignal();
  const notify = (): void => changes.notify();
  const unsubscribe = pubsub.subscribe(CHANNELS.log, notify);
  signal.addEventListener("abort", notify);
  let position = after;
  try {
    while (!signal.aborted) {
      const page = await reads.pass(viewer.id, () => storage.eventLog.read(position, PAGE, viewer));
      for (const logged of page.events) {
        yield loggedEventText(logged, cursors);
      }
      position = page.next;
      if (!page.hasMore) {
        await changes.wait(page.isHeldBack ? HELD_BACK_MS : pollMs);
      }
    }
  } finally {
    signal.removeEventListener("abort", notify);
    unsubscribe();
  }
}
