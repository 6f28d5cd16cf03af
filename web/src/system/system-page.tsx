import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { PageHead } from "../frame/page-head.tsx";
import { DoctorChecks } from "../parts/doctor-checks.tsx";
import { Loading, Problem } from "../parts/problem.tsx";
import { Ago } from "../parts/time.tsx";
import { client } from "../server/client.ts";
import { catalogueQuery, doctorQuery } from "../server/queries.ts";

/** `/system`: the checks of the doctor, the workers, what waits, and the agents with their versions. */
export function SystemPage() {
  const doctor = useQuery(doctorQuery);
  const workers = useQuery({
    queryKey: ["workers"],
    queryFn: ({ signal }) => client.workers.list({ signal }),
    refetchInterval: 15_000,
  });
  const waiting = useQuery({
    queryKey: ["runs", "waiting"],
    queryFn: ({ signal }) =>
      client.runs.list(
        { state: ["QUEUED"], limit: 100, sort_by: "created_at", sort_order: "asc" },
        { signal },
      ),
  });
  const catalogue = useQuery(catalogueQuery);
  return (
    <div className="page">
      <PageHead title="System" text="Whether this server works, and what it works with.">
        <button
          type="button"
          className="btn"
          disabled={doctor.isFetching}
          onClick={() => void doctor.refetch()}
        >
          {doctor.isFetching ? "Checking…" : "Check again"}
        </button>
      </PageHead>
      <section className="section">
        <h2>Checks</h2>
        {doctor.error && <Problem error={doctor.error} />}
        {doctor.isPending && <Loading what="the checks" />}
        {doctor.data && <DoctorChecks checks={doctor.data.checks} />}
      </section>
      <section className="section">
        <h2>Workers</h2>
        {workers.error && <Problem error={workers.error} />}
        {workers.data && workers.data.workers.length > 0 && (
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Host</th>
                <th scope="col">Processes</th>
                <th scope="col">Full disks</th>
                <th scope="col">Last seen</th>
              </tr>
            </thead>
            <tbody>
              {workers.data.workers.map(
                ({ worker_host, connection_count, disk_full_count, last_seen_at }) => (
                  <tr key={worker_host}>
                    <td>{worker_host || "any host"}</td>
                    <td data-title="Processes">{connection_count}</td>
                    <td data-title="Full disks">{disk_full_count === 0 ? "none" : disk_full_count}</td>
                    <td data-title="Last seen">
                      <Ago time={last_seen_at} />
                    </td>
                  </tr>
                ),
              )}
            </tbody>
          </table>
        )}
        {workers.data?.workers.length === 0 && (
          <p className="muted sm">Only workers with a host name are listed. The others take every run.</p>
        )}
      </section>
      <section className="section">
        <h2>Queue</h2>
        {waiting.error && <Problem error={waiting.error} />}
        {waiting.data?.runs.length === 0 && <p className="muted sm">No run waits.</p>}
        <ul className="sm">
          {waiting.data?.runs.map(({ run_id, title, waiting_for, created_at }) => (
            <li key={run_id}>
              <Link to="/runs/$id" params={{ id: run_id }} dir="auto">
                {title}
              </Link>{" "}
              <span className="muted">
                {waiting_for?.message ?? "for a free worker"}, since <Ago time={created_at} />
              </span>
            </li>
          ))}
        </ul>
      </section>
      <section className="section">
        <h2>Agents</h2>
        {catalogue.error && <Problem error={catalogue.error} />}
        {catalogue.data && (
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Agent</th>
                <th scope="col">Version</th>
                <th scope="col">License</th>
                <th scope="col">Usable</th>
              </tr>
            </thead>
            <tbody>
              {catalogue.data.agents.map(
                ({ name, display_name, version, license, usable, needs, is_default }) => (
                  <tr key={name}>
                    <td>
                      {display_name}
                      {is_default && <span className="faint"> (default)</span>}
                    </td>
                    <td className="num nowrap" data-title="Version">
                      {version}
                    </td>
                    <td data-title="License">{license}</td>
                    <td data-title="Usable">{usable ? "Yes" : `No. ${needs.join(" ")}`}</td>
                  </tr>
                ),
              )}
            </tbody>
          </table>
        )}
      </section>
    </div>
  );
}
