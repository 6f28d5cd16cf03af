import "./setup.css";
import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { PageHead } from "../frame/page-head.tsx";
import { DoctorChecks } from "../parts/doctor-checks.tsx";
import { Icon } from "../parts/icon.tsx";
import { Loading, Problem } from "../parts/problem.tsx";
import { State } from "../parts/state.tsx";
import { client } from "../server/client.ts";
import {
  catalogueQuery,
  doctorQuery,
  guidesQuery,
  runQuery,
  runsQuery,
  whoamiQuery,
} from "../server/queries.ts";
import { checksOf } from "./checks-of.ts";
import { OperatorsOnly } from "./operators-only.tsx";
import { Step } from "./step.tsx";

/** `/setup`: the first steps with a new server. Each one shows whether it is done, so no state of its own is stored. */
export function SetupPage() {
  const { data: whoami } = useQuery(whoamiQuery);
  const runs = useInfiniteQuery(runsQuery({ limit: 1 }));
  const isFirstRunDone = (runs.data?.length ?? 0) > 0;
  return (
    <div className="page setup-steps">
      <PageHead
        title="Set up"
        text="Three steps to a first run, and one for each place your team works in. You can leave and come back at any time."
      />
      {whoami?.is_operator === false && <OperatorsOnly />}
      {whoami?.is_operator && <ServerStep />}
      <AgentStep />
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
          {whoami?.is_administrator && (
            <Link className="btn" to="/integrations">
              Integrations
            </Link>
          )}
        </p>
      </Step>
      {whoami?.is_operator && <PlatformSteps first={4} />}
    </div>
  );
}

function ServerStep() {
  const doctor = useQuery(doctorQuery);
  const guides = useQuery(guidesQuery);
  const adapters = guides.data?.guides.map(({ adapter }) => adapter) ?? [];
  const ofServer = doctor.data?.checks.filter(
    ({ name }) => !adapters.some((adapter) => name.startsWith(`${adapter}_`)),
  );
  const open = ofServer?.filter(({ status }) => status !== "ok") ?? [];
  return (
    <Step number={1} title="The server" isDone={ofServer !== undefined && open.length === 0}>
      {doctor.error && <Problem error={doctor.error} onRetry={() => void doctor.refetch()} />}
      {doctor.isPending && <Loading what="the checks" />}
      {ofServer && open.length === 0 && <p className="muted">All {ofServer.length} checks pass.</p>}
      {open.length > 0 && <DoctorChecks checks={open} />}
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
  );
}

/** One step per platform that people may already work in. */
function PlatformSteps({ first }: { readonly first: number }) {
  const guides = useQuery(guidesQuery);
  const doctor = useQuery(doctorQuery);
  return (
    <>
      {guides.error && <Problem error={guides.error} onRetry={() => void guides.refetch()} />}
      {guides.data?.guides.map(({ adapter, enabled, title }, index) => {
        const checks = doctor.data && checksOf(doctor.data.checks, adapter);
        const open = checks?.filter(({ status }) => status !== "ok") ?? [];
        const isDone = enabled && checks !== undefined && open.length === 0;
        return (
          <Step key={adapter} number={first + index} title={title} isDone={isDone}>
            {!enabled && <p className="muted">Not connected. It takes about ten minutes.</p>}
            {isDone && <p className="muted">All {checks.length} checks pass.</p>}
            {enabled && open.length > 0 && <DoctorChecks checks={open} />}
            <p>
              <Link className="btn" to="/setup/$adapter" params={{ adapter }}>
                {enabled ? `Steps and checks of ${title}` : `Connect ${title}`}
              </Link>
            </p>
          </Step>
        );
      })}
    </>
  );
}

function AgentStep() {
  const catalogue = useQuery(catalogueQuery);
  const ready = (catalogue.data?.agents ?? []).filter(({ name, usable }) => usable && name !== DEMO);
  return (
    <Step number={2} title="Agent and model" isDone={ready.length > 0}>
      {ready.length > 0 && (
        <p className="muted">Ready: {ready.map(({ display_name: name }) => name).join(", ")}.</p>
      )}
      <p className="muted">
        Agents other than the demo agent need the key of a model. Set its variable where the server starts,
        and restart the server. A test is a small run.
      </p>
      {catalogue.error && <Problem error={catalogue.error} />}
      {catalogue.isPending && <Loading what="the agents" />}
      <ul className="card checks">
        {catalogue.data?.agents.map(({ name, display_name, usable, needs, is_default }) => (
          <AgentTest
            key={name}
            name={name}
            title={`${display_name}${is_default ? " (default)" : ""}`}
            missing={usable ? undefined : needs.join(" ")}
          />
        ))}
      </ul>
    </Step>
  );
}

/** Needs no model, so it is no sign that one is set up. */
const DEMO = "demo";

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
          <b>{title}</b>
          {missing && <span className="muted block">{missing}</span>}
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
