import "../system/system.css";
import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { PageHead } from "../frame/page-head.tsx";
import { Icon } from "../parts/icon.tsx";
import { Loading, Problem } from "../parts/problem.tsx";
import { State } from "../parts/state.tsx";
import { client } from "../server/client.ts";
import { catalogueQuery, doctorQuery, runQuery, runsQuery } from "../server/queries.ts";
import { Checks } from "../system/checks.tsx";

/** `/setup`: the first steps with a new server. Each one shows whether it is done, so no state of its own is stored. */
export function SetupPage() {
  const doctor = useQuery(doctorQuery);
  const runs = useInfiniteQuery(runsQuery({ limit: 1 }));
  const open = doctor.data?.checks.filter(({ status }) => status !== "ok") ?? [];
  const isFirstRunDone = (runs.data?.length ?? 0) > 0;
  return (
    <div className="page">
      <PageHead title="Set up" text="Three steps to a first run. You can leave and come back at any time." />
      <Step number={1} title="The server" isDone={doctor.data?.status === "ok"}>
        {doctor.error && <Problem error={doctor.error} onRetry={() => void doctor.refetch()} />}
        {doctor.isPending && <Loading what="the checks" />}
        {doctor.data && open.length === 0 && (
          <p className="muted">All {doctor.data.checks.length} checks pass.</p>
        )}
        {open.length > 0 && <Checks checks={open} />}
        {doctor.data && (
          <p>
            <button
              type="button"
              className="btn"
              disabled={doctor.isFetching}
              onClick={() => void doctor.refetch()}
            >
              {doctor.isFetching ? "Checking…" : "Check again"}
            </button>
          </p>
        )}
      </Step>
      <Step number={2} title="Agent and model" isDone={false}>
        <AgentTests />
      </Step>
      <Step number={3} title="First run" isDone={isFirstRunDone}>
        <p className="muted">
          {isFirstRunDone
            ? "Done. Invite others, or connect Slack and GitHub."
            : "Say what you want done, and watch it."}
        </p>
        <p className="row wrap">
          <Link className={isFirstRunDone ? "btn" : "btn primary"} to="/new">
            New run
          </Link>
          <Link className="btn" to="/integrations">
            Integrations
          </Link>
        </p>
      </Step>
    </div>
  );
}

function Step({
  number,
  title,
  isDone,
  children,
}: {
  readonly number: number;
  readonly title: string;
  readonly isDone: boolean;
  readonly children: ReactNode;
}) {
  return (
    <section className={isDone ? "step ok" : "step"} aria-labelledby={`step-${number}`}>
      <span className="number" aria-hidden="true">
        {isDone ? <Icon name="check" /> : number}
      </span>
      <div>
        <h2 id={`step-${number}`}>
          {title}
          {isDone && <span className="sr"> (done)</span>}
        </h2>
        {children}
      </div>
    </section>
  );
}

function AgentTests() {
  const catalogue = useQuery(catalogueQuery);
  return (
    <>
      {catalogue.error && <Problem error={catalogue.error} />}
      {catalogue.isPending && <Loading what="the agents" />}
      <ul className="card checks">
        {catalogue.data?.agents.map(({ name, display_name, usable, needs, is_default }) => (
          <AgentTest
            key={name}
            name={name}
            title={`${display_name}${is_default ? " (default)" : ""}`}
            missing={usable ? undefined : needs.join(", ")}
          />
        ))}
      </ul>
    </>
  );
}

/** Starts a small run of the agent and shows how it ends. */
function AgentTest({
  name,
  title,
  missing,
}: {
  readonly name: string;
  readonly title: string;
  readonly missing: string | undefined;
}) {
  const test = useMutation({ mutationFn: () => client.catalogue.test(name) });
  const run = useQuery({ ...runQuery(test.data?.run_id ?? ""), enabled: test.data !== undefined });
  return (
    <li>
      <Icon name="agents" />
      <div className="row wrap">
        <span className="grow">
          <b>{title}</b> {missing === undefined ? null : <span className="muted">needs {missing}</span>}
          {run.data?.status_message && <span className="muted block">{run.data.status_message.message}</span>}
          {test.error && <Problem error={test.error} />}
        </span>
        {run.data && (
          <Link to="/runs/$id" params={{ id: run.data.run_id }}>
            <State state={run.data.state} run={run.data} />
          </Link>
        )}
        <button
          type="button"
          className="btn"
          disabled={test.isPending || missing !== undefined}
          onClick={() => test.mutate()}
        >
          {test.isPending ? "Starting…" : "Test"}
          <span className="sr"> {title}</span>
        </button>
      </div>
    </li>
  );
}
