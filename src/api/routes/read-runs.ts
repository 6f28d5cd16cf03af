import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import type { RunPage, RunQuery } from "../../core/ports/stores/run-query.ts";
import type { ApiDeps } from "../api-deps.ts";
import { itemForGuest } from "../auth/guest-view.ts";
import { Cursors } from "../http/cursors.ts";
import { RunParams, requireRunId } from "../schemas/ids.ts";
import { filtersOf, ListRunsQuery } from "../schemas/list-runs.ts";
import { problems } from "../schemas/problem.ts";
import { ListRunsResponse, RunItem } from "../schemas/run-item.ts";
import { type Reader, readerOf, runItem, runItemsOf } from "./run-items.ts";

/** The second root is the deprecated one, for existing clients. */
const ADDRESSES = [
  { root: "/agent/runs", list: "listRuns", get: "getRun", deprecated: false },
  { root: "/agent/tasks", list: "listTasks", get: "getTask", deprecated: true },
] as const;

const config = { scope: "runs:read" } as const;

export function readRunRoutes(deps: ApiDeps): FastifyPluginAsyncZod {
  const cursors = new Cursors(deps.sessionSecret);
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
        response: { 200: RunItem, ...problems(401, 404, 503) },
      };
      const getConfig = deprecated ? config : ({ ...config, acceptsGuest: "any" } as const);
      app.get(`${root}/:runId`, { schema: getSchema, config: getConfig }, async (request) =>
        getRun(deps, request.params.runId, readerOf(request)),
      );
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
  return { runs: await runItemsOf(deps, page.runs, reader), page_info: pageInfoOf(page, listing, cursors) };
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

async function getRun(deps: ApiDeps, id: string, reader: Reader): Promise<RunItem> {
  const { viewer } = reader;
  const run = await deps.runs.get({ id: requireRunId(id) }, viewer);
  const item = await runItem(deps, run, reader);
  return viewer.onlyRunId === undefined ? item : itemForGuest(item);
}
