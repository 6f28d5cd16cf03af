import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import type { RunId } from "../../core/basics/ids.ts";
import type { RunPage, RunQuery } from "../../core/ports/stores/run-query.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { itemForGuest } from "../auth/guest-view.ts";
import type { OpenStreams } from "../events/open-streams.ts";
import { RunWaiters } from "../events/run-waiters.ts";
import { Cursors } from "../http/cursors.ts";
import { RunParams, requireRunId } from "../schemas/ids.ts";
import { fieldsIn, filtersOf, GetRunQuery, ListRunsQuery, waitOf } from "../schemas/list-runs.ts";
import { problems } from "../schemas/problem.ts";
import { ListRunsResponse, RunItem } from "../schemas/run-item.ts";
import { editedOfRun } from "./change-run.ts";
import { type Reader, readerOf, runItem, runItemsOf } from "./run-items.ts";

/** The second root is the deprecated one, for existing clients. */
const ADDRESSES = [
  { root: "/agent/runs", list: "listRuns", get: "getRun", deprecated: false },
  { root: "/agent/tasks", list: "listTasks", get: "getTask", deprecated: true },
] as const;

const config = { scope: "runs:read" } as const;

export function readRunRoutes(deps: ApiDeps & { readonly streams: OpenStreams }): FastifyPluginAsyncZod {
  const cursors = new Cursors(deps.sessionSecret);
  const waiters = new RunWaiters(deps, deps.streams);
  return async (app) => {
    for (const { root, list, get, deprecated } of ADDRESSES) {
      const common = { tags: ["runs"], deprecated };
      const listSchema = {
        ...common,
        operationId: list,
        summary: "List runs",
        querystring: ListRunsQuery,
        response: { 200: ListRunsResponse, ...problems(400, 401, 503) },
      };
      app.get(root, { schema: listSchema, config }, async (request) =>
        listRuns(deps, cursors, request.query, readerOf(request)),
      );
      const getSchema = {
        ...common,
        operationId: get,
        summary: "Get a run",
        params: RunParams,
        querystring: GetRunQuery,
        response: { 200: RunItem, ...problems(400, 401, 404, 429, 503) },
      };
      const tagged = { ...config, edited: editedOfRun, describedHeaders: ["Prefer"] } as const;
      const getConfig = deprecated ? tagged : ({ ...tagged, acceptsGuest: "any" } as const);
      app.get(`${root}/:runId`, { schema: getSchema, config: getConfig }, async (request, reply) => {
        const { fields, wait } = request.query;
        const id = requireRunId(request.params.runId);
        const seconds = waitOf(wait, request.headers.prefer);
        if (seconds !== undefined) {
          // An unknown run is not waited for.
          await deps.runs.get({ id }, viewerOf(request));
          await waiters.wait(request, reply, id, seconds * 1_000);
        }
        if (wait === undefined && seconds !== undefined) {
          reply.header("preference-applied", `wait=${seconds}`);
        }
        return memberFilter(fields)(await getRun(deps, id, readerOf(request)));
      });
    }
  };
}

async function listRuns(
  deps: ApiDeps,
  cursors: Cursors,
  query: ListRunsQuery,
  reader: Reader,
): Promise<ListRunsResponse> {
  const { viewer } = reader;
  const filters = filtersOf(query);
  const listing = { viewer, filters: filters ?? {}, sort: query.sort_by, order: query.sort_order };
  const after = query.cursor === undefined ? {} : { after: cursors.decode(query.cursor, listing) };
  if (filters === undefined) {
    return { runs: [], page_info: { has_next_page: false } };
  }
  const page = await deps.runs.list({ ...listing, ...after, limit: query.limit });
  const items = await runItemsOf(deps, page.runs, reader);
  return { runs: items.map(memberFilter(query.fields)), page_info: pageInfoOf(page, listing, cursors) };
}

function pageInfoOf(
  { next }: RunPage,
  listing: Omit<RunQuery, "limit">,
  cursors: Cursors,
): ListRunsResponse["page_info"] {
  if (next === undefined) {
    return { has_next_page: false };
  }
  return { has_next_page: true, next_cursor: cursors.encode(next, listing) };
}

async function getRun(deps: ApiDeps, id: RunId, reader: Reader): Promise<RunItem> {
  const { viewer } = reader;
  const item = await runItem(deps, await deps.runs.get({ id }, viewer), reader);
  return viewer.onlyRunId === undefined ? item : itemForGuest(item);
}

/** Leaves the members that the caller asks for. Without `fields`, all. */
function memberFilter(fields: string | undefined): (item: RunItem) => RunItem {
  if (fields === undefined) {
    return (item) => item;
  }
  const names = fieldsIn(fields);
  return (item) =>
    Object.fromEntries(Object.entries(item).filter(([name]) => names.includes(name))) as RunItem;
}
