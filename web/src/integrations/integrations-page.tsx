import type { Notice } from "@errand/client";
import { useMutation, useQuery } from "@tanstack/react-query";
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
import { FailedDeliveries } from "./failed-deliveries.tsx";
import { Received } from "./received.tsx";

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
        {installations.data?.unconnected?.map(
          ({
            adapter,
            external_id: externalId,
            install_url: installUrl,
            last_received_at: lastReceivedAt,
          }) => (
            <div key={`${adapter} ${externalId}`} className="note needs">
              <Icon name="warning" />
              <p className="grow">
                The {platformName(adapter)} workspace {externalId} wrote to Errand and is not connected. Its
                last message came <Ago time={lastReceivedAt} />.
              </p>
              <a className="btn" href={installUrl}>
                Install it there<span className="sr"> ({externalId})</span>
              </a>
            </div>
          ),
        )}
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
      <FailedDeliveries />
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
