import type { InboxEvent, Notice } from "@errand/client";
import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { PageHead } from "../frame/page-head.tsx";
import { plural } from "../parts/format.ts";
import { Icon } from "../parts/icon.tsx";
import { Loading, Problem } from "../parts/problem.tsx";
import { platformName } from "../parts/source.ts";
import { Ago } from "../parts/time.tsx";
import { sayProblem } from "../parts/toasts.tsx";
import { client } from "../server/client.ts";
import { deadNoticesQuery, installationsQuery, queries, whoamiQuery } from "../server/queries.ts";

/** `/integrations`: whether everybody who wrote to the bot was answered. */
export function IntegrationsPage() {
  const dead = useQuery(deadNoticesQuery);
  const installations = useQuery(installationsQuery);
  const { data: whoami } = useQuery(whoamiQuery);
  return (
    <div className="page">
      <PageHead title="Integrations" text="Where requests come from, and whether everybody is answered.">
        {whoami?.is_operator && (
          <Link className="btn" to="/setup">
            Connect Slack or GitHub
          </Link>
        )}
      </PageHead>
      {dead.error && <Problem error={dead.error} />}
      {dead.data && dead.data.notices.length > 0 && (
        <section className="section">
          <div className="note fail">
            <Icon name="warning" />
            <div className="grow">
              <b>{plural(dead.data.notices.length, "message")} could not be delivered.</b> A person waits for
              an answer.
            </div>
          </div>
          <Notices notices={dead.data.notices} />
        </section>
      )}
      <section className="section">
        <h2>Installations</h2>
        {installations.error && <Problem error={installations.error} />}
        {installations.isPending && <Loading what="the installations" />}
        {installations.data?.installations.length === 0 && (
          <p className="muted sm">
            None yet. An installation appears here with its first message, after an operator has connected
            Slack or GitHub.
          </p>
        )}
        {installations.data && installations.data.installations.length > 0 && (
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Where</th>
                <th scope="col">Name</th>
                <th scope="col">State</th>
                <th scope="col">Since</th>
              </tr>
            </thead>
            <tbody>
              {installations.data.installations.map(
                ({ id, adapter, external_id, name, enabled, problem, created_at }) => (
                  <tr key={id}>
                    <td>{platformName(adapter)}</td>
                    <td dir="auto">{name ?? external_id}</td>
                    <td dir="auto">{enabled ? (problem ?? "Connected") : "Switched off"}</td>
                    <td data-title="When">
                      <Ago time={created_at} />
                    </td>
                  </tr>
                ),
              )}
            </tbody>
          </table>
        )}
      </section>
      <Received />
      <Deliveries />
    </div>
  );
}

const KINDS: Readonly<Record<Notice["kind"], string>> = {
  card: "Status",
  answer: "Answer",
  question: "Question",
  other: "Message",
};

function Notices({ notices }: { readonly notices: readonly Notice[] }) {
  const retry = useMutation({
    mutationFn: (id: string) => client.notices.retry(id),
    onError: sayProblem,
    onSettled: () => queries.invalidateQueries({ queryKey: ["notices"] }),
  });
  return (
    <table className="table">
      <thead>
        <tr>
          <th scope="col">Message</th>
          <th scope="col">Why it was not delivered</th>
          <th scope="col">When</th>
          <th scope="col">
            <span className="sr">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {notices.map(({ id, kind, error, run_id, created_at, attempts }) => (
          <tr key={id}>
            <td>
              {KINDS[kind]}
              {run_id && (
                <>
                  {" of "}
                  <Link to="/runs/$id" params={{ id: run_id }}>
                    this run
                  </Link>
                </>
              )}
            </td>
            <td dir="auto">
              {error ?? "unknown"} <span className="faint">after {plural(attempts, "try", "tries")}</span>
            </td>
            <td data-title="When">
              <Ago time={created_at} />
            </td>
            <td className="r">
              <button
                type="button"
                className="btn"
                disabled={retry.isPending}
                onClick={() => retry.mutate(id)}
              >
                Send again
              </button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

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

function Received() {
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

/** Webhook messages of the team that were given up. */
function Deliveries() {
  const { data: whoami } = useQuery(whoamiQuery);
  const isAdministrator = whoami?.scopes.includes("admin") ?? false;
  const failed = useQuery({
    queryKey: ["webhook-deliveries"],
    queryFn: async ({ signal }) => {
      const { webhooks } = await client.webhooks.list({ signal });
      const lists = await Promise.all(
        webhooks.map(async ({ id, url }) => {
          const { deliveries } = await client.webhooks.deliveries(id, { limit: 50 }, { signal });
          return deliveries.filter(({ state }) => state === "dead").map((delivery) => ({ ...delivery, url }));
        }),
      );
      return lists.flat();
    },
    enabled: isAdministrator,
  });
  const replay = useMutation({
    mutationFn: ({ webhook, id }: { readonly webhook: string; readonly id: string }) =>
      client.webhooks.replay(webhook, id),
    onError: sayProblem,
    onSettled: () => queries.invalidateQueries({ queryKey: ["webhook-deliveries"] }),
  });
  if (!isAdministrator) {
    return null;
  }
  return (
    <section className="section">
      <h2>Webhooks</h2>
      {failed.error && <Problem error={failed.error} />}
      {failed.data?.length === 0 && <p className="muted sm">No webhook message has failed.</p>}
      {failed.data && failed.data.length > 0 && (
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Receiver</th>
              <th scope="col">Why it failed</th>
              <th scope="col">When</th>
              <th scope="col">
                <span className="sr">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {failed.data.map(({ id, webhook_id, url, type, error, created_at }) => (
              <tr key={id}>
                <td>
                  {url} <span className="faint">{type}</span>
                </td>
                <td>{error ?? "unknown"}</td>
                <td data-title="When">
                  <Ago time={created_at} />
                </td>
                <td className="r">
                  <button
                    type="button"
                    className="btn"
                    disabled={replay.isPending}
                    onClick={() => replay.mutate({ webhook: webhook_id, id })}
                  >
                    Send again
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
