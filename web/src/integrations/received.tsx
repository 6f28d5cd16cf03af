import type { InboxEvent } from "@errand/client";
import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Problem } from "../parts/problem.tsx";
import { platformName } from "../parts/source.ts";
import { Ago } from "../parts/time.tsx";
import { sayProblem } from "../parts/toasts.tsx";
import { client } from "../server/client.ts";
import { queries, whoamiQuery } from "../server/queries.ts";

const DISPOSITIONS: Readonly<Record<string, string>> = {
  run_created: "started a run",
  follow_up: "became a follow-up",
  changed: "changed a request",
  withdrawn: "withdrew a request",
  cancelled: "stopped a run",
  answered: "answered a question",
  replied: "was answered",
  refused: "was refused",
  ignored: "was ignored",
  duplicate: "arrived twice",
  failed: "failed",
};

/** What became of the messages that came. */
export function Received() {
  const { data: whoami } = useQuery(whoamiQuery);
  const inbox = useInfiniteQuery({
    queryKey: ["inbox"],
    queryFn: ({ pageParam, signal }) =>
      client.inbox.list({ limit: 20, ...(pageParam === "" ? {} : { cursor: pageParam }) }, { signal }),
    initialPageParam: "",
    getNextPageParam: ({ page_info }) => (page_info.has_next_page ? page_info.next_cursor : undefined),
    enabled: whoami?.scopes.includes("admin") ?? false,
  });
  const events: readonly InboxEvent[] = inbox.data?.pages.flatMap((page) => page.events) ?? [];
  const retry = useMutation({
    mutationFn: (id: string) => client.inbox.retry(id),
    onError: sayProblem,
    onSettled: () => queries.invalidateQueries({ queryKey: ["inbox"] }),
  });
  return (
    <section className="section">
      <h2>Received</h2>
      {whoami !== undefined && !whoami.scopes.includes("admin") && (
        <p className="muted sm">Administrators see here what became of each message.</p>
      )}
      {inbox.error && <Problem error={inbox.error} />}
      {inbox.data && events.length === 0 && <p className="muted sm">No message has arrived yet.</p>}
      {events.length > 0 && (
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Event</th>
              <th scope="col">What became of it</th>
              <th scope="col">When</th>
              <th scope="col">
                <span className="sr">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {events.map(({ id, integration, name, disposition, reason, run_id, received_at }) => (
              <tr key={id}>
                <td>
                  {platformName(integration)} <span className="faint">{name}</span>
                </td>
                <td dir="auto">
                  {run_id === undefined ? (
                    (DISPOSITIONS[disposition ?? ""] ?? "is being handled")
                  ) : (
                    <Link to="/runs/$id" params={{ id: run_id }}>
                      {DISPOSITIONS[disposition ?? ""] ?? "is being handled"}
                    </Link>
                  )}
                  {reason && <span className="muted"> {reason}</span>}
                </td>
                <td data-title="When">
                  <Ago time={received_at} />
                </td>
                <td className="r">
                  {disposition === "failed" && (
                    <button
                      type="button"
                      className="btn"
                      disabled={retry.isPending}
                      onClick={() => retry.mutate(id)}
                    >
                      Try again
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {inbox.hasNextPage && (
        <p className="gap-above">
          <button type="button" className="btn" onClick={() => void inbox.fetchNextPage()}>
            Show 20 more
          </button>
        </p>
      )}
    </section>
  );
}
