import { type ListRunsQuery, NotFoundError, PermissionDeniedError, type RunItem } from "@errand/client";
import { infiniteQueryOptions, QueryClient, queryOptions } from "@tanstack/react-query";
import { pullRequestUrl } from "../parts/pull-request.tsx";
import { client } from "./client.ts";

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      // The client has already repeated what may pass.
      retry: false,
      throwOnError: false,
      // A browser may be offline for the internet and reach the server nevertheless.
      networkMode: "always",
    },
    // A mutation that waits for the network would not say that nothing was sent.
    mutations: { networkMode: "always" },
  },
});

export function isGone(error: unknown): boolean {
  return error instanceof NotFoundError || error instanceof PermissionDeniedError;
}

const PAGE = 50;

export const whoamiQuery = queryOptions({
  queryKey: ["whoami"],
  queryFn: ({ signal }) => client.whoami({ signal }),
  staleTime: 5 * 60_000,
});

export function runsQuery(filter: ListRunsQuery) {
  return infiniteQueryOptions({
    queryKey: ["runs", filter],
    queryFn: ({ pageParam, signal }) =>
      client.runs.list(
        { limit: PAGE, ...filter, ...(pageParam === "" ? {} : { cursor: pageParam }) },
        { signal },
      ),
    initialPageParam: "",
    getNextPageParam: ({ page_info }) => (page_info.has_next_page ? page_info.next_cursor : undefined),
    select: ({ pages }): readonly RunItem[] => pages.flatMap(({ runs }) => runs),
  });
}

export function runQuery(id: string) {
  return queryOptions({
    queryKey: ["run", id],
    queryFn: ({ signal }) => client.runs.retrieve(id, { signal }),
    refetchInterval: ({ state: { data, dataUpdateCount } }) =>
      data === undefined ? false : pullRequestInterval(data, dataUpdateCount),
  });
}

const SOON_MS = 3_000;
const OPEN_PULL_REQUEST_MS = 20_000;
/** After so many answers without a status, the server probably may not read the pull request. */
const SOON_MAX = 4;

/** No event says that a pull request or its checks have changed. */
function pullRequestInterval(
  { pull_request_status: status, ...run }: RunItem,
  answers: number,
): number | false {
  if (pullRequestUrl(run) === undefined || status?.state === "merged" || status?.state === "closed") {
    return false;
  }
  return status === undefined && answers < SOON_MAX ? SOON_MS : OPEN_PULL_REQUEST_MS;
}

export const environmentsQuery = queryOptions({
  queryKey: ["environments"],
  queryFn: ({ signal }) => client.environments.list({}, { signal }),
});

export const principalsQuery = queryOptions({
  queryKey: ["principals"],
  queryFn: ({ signal }) => client.principals.list({ signal }),
});

export const namedAgentsQuery = queryOptions({
  queryKey: ["identities"],
  queryFn: ({ signal }) => client.agents.list({ signal }),
});

export const catalogueQuery = queryOptions({
  queryKey: ["catalogue"],
  queryFn: ({ signal }) => client.catalogue.list({ signal }),
});

export const doctorQuery = queryOptions({
  queryKey: ["doctor"],
  queryFn: ({ signal }) => client.doctor.retrieve({ signal }),
});

/** How the platforms outside are connected. For operators. */
export const guidesQuery = queryOptions({
  queryKey: ["installations", "guides"],
  queryFn: ({ signal }) => client.installations.guides({ signal }),
  staleTime: 60_000,
});

export const installationsQuery = queryOptions({
  queryKey: ["installations"],
  queryFn: ({ signal }) => client.installations.list({ signal }),
});

/** The threads that show a run. */
export const threadsQuery = (runId: string) =>
  queryOptions({
    queryKey: ["run", runId, "threads"],
    queryFn: ({ signal }) => client.threads.list({ run_id: runId }, { signal }),
  });

/** Messages that could not be delivered and are not tried again. */
export const deadNoticesQuery = queryOptions({
  queryKey: ["notices", "dead"],
  queryFn: ({ signal }) => client.notices.list({ state: "dead", limit: 100 }, { signal }),
  refetchInterval: 60_000,
});
