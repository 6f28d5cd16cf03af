import "./tabs.css";
import type { RunItem } from "@errand/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { duration, exactTime, money, rough } from "../parts/format.ts";
import { Icon } from "../parts/icon.tsx";
import { Problem } from "../parts/problem.tsx";
import { platformName, sourceOf } from "../parts/source.ts";
import { say, sayProblem } from "../parts/toasts.tsx";
import { client } from "../server/client.ts";
import { queries, threadsQuery } from "../server/queries.ts";
import { PlainText } from "./content.tsx";
import { agentName, personName, safeUrl, whyOf } from "./names.ts";

/** Where the run comes from, the data of its answer, how it is configured and why, and who was told. */
export function DetailsTab({
  run,
  attempts,
}: {
  readonly run: RunItem;
  readonly attempts: readonly Attempt[];
}) {
  const { provenance = {} } = run;
  const { config_layers: _layers, ...origin } = provenance;
  return (
    <div className="details">
      <Section title="Run">
        <Pairs
          pairs={[
            ["Run", <code key="id">{run.run_id}</code>],
            ["State", run.state],
            ["Created", exactTime(run.created_at)],
            ["Started", run.started_at ? exactTime(run.started_at) : undefined],
            ["Changed", exactTime(run.updated_at)],
            ["Working time", workingTime(run.run_time)],
            ["Creator", personName(run.creator)],
            ["Executor", run.executor && personName(run.executor)],
            ["Source", sourceOf(run.source).name],
            ["Agent", `${agentName(run)} ${run.agent?.version ?? ""}`],
            ["Model", run.agent?.model_id],
            ["Tokens", run.request_usage?.total_tokens && rough(run.request_usage.total_tokens)],
            ["Cost", money(run.request_usage?.inference_cost_usd) || undefined],
            ["Conversation", run.conversation_id && <code key="conversation">{run.conversation_id}</code>],
            [
              "Continues",
              run.parent_run_id && (
                <Link key="parent" to="/runs/$id" params={{ id: run.parent_run_id }}>
                  the run before it
                </Link>
              ),
            ],
            ["Schedule", run.schedule && `${run.schedule.schedule_name} (${run.schedule.cron_schedule})`],
            ["Skill", run.agent_skill && `${run.agent_skill.name}: ${run.agent_skill.description}`],
            ["Visible to", run.scope?.type === "Team" ? "the team" : "its creator"],
          ]}
        />
        {run.warnings?.map((warning) => (
          <p className="note needs" key={warning}>
            <Icon name="warning" /> {warning}
          </p>
        ))}
      </Section>
      {run.result?.data !== undefined && (
        <Section title="Data">
          <PlainText text={JSON.stringify(run.result.data, null, 2)} label="Data of the answer" />
        </Section>
      )}
      <Section title="Configuration">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Setting</th>
              <th scope="col">Value</th>
              <th scope="col">Why</th>
            </tr>
          </thead>
          <tbody>
            {flat(run.agent_config ?? {}).map(([name, value]) => (
              <tr key={name}>
                <td>
                  <code>{name}</code>
                </td>
                <td dir="auto">{value}</td>
                <td className="muted">{whyOf(run, name) ?? whyOf(run, name.split(".")[0] ?? name) ?? ""}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Section>
      {Object.keys(origin).length > 0 && (
        <Section title="Origin">
          <Pairs pairs={flat(origin).map(([name, value]) => [name, linked(value)])} />
        </Section>
      )}
      {run.metadata && (
        <Section title="Metadata">
          <Pairs pairs={Object.entries(run.metadata)} />
        </Section>
      )}
      <Section title="Attempts">
        {attempts.length === 0 ? (
          <p className="muted sm">No worker has taken the run so far.</p>
        ) : (
          <ul className="attempts">
            {attempts.map(({ at, text }) => (
              <li className="row sm" key={at + text}>
                <span className="grow" dir="auto">
                  {text}
                </span>
                <time className="faint xs" dateTime={at}>
                  {exactTime(at)}
                </time>
              </li>
            ))}
          </ul>
        )}
      </Section>
      <Deliveries runId={run.run_id} />
      <Threads runId={run.run_id} />
    </div>
  );
}

export interface Attempt {
  readonly at: string;
  readonly text: string;
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Pairs({ pairs }: { readonly pairs: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="detail-pairs">
      {pairs
        .filter(([, value]) => value !== undefined && value !== "" && value !== 0 && value !== false)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd dir="auto">{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** `PT1072.4S` in words. */
function workingTime(time: string | undefined): string | undefined {
  const seconds = /^PT([\d.]+)S$/.exec(time ?? "")?.[1];
  return seconds === undefined ? time : duration(Number(seconds));
}

/** The members of an object by their paths. */
function flat(value: unknown, prefix = ""): readonly (readonly [path: string, text: string])[] {
  if (typeof value !== "object" || value === null) {
    return value === undefined ? [] : [[prefix, String(value)]];
  }
  if (Array.isArray(value)) {
    return [
      [
        prefix,
        value.map((item) => (typeof item === "object" ? JSON.stringify(item) : String(item))).join(", "),
      ],
    ];
  }
  return Object.entries(value).flatMap(([name, member]) =>
    flat(member, prefix === "" ? name : `${prefix}.${name}`),
  );
}

function linked(text: string): ReactNode {
  return safeUrl(text) === undefined ? (
    text
  ) : (
    <a href={text} target="_blank" rel="noopener noreferrer">
      {text}
    </a>
  );
}

/** The threads that show this run. */
function Threads({ runId }: { readonly runId: string }) {
  const threads = useQuery(threadsQuery(runId));
  const bound = threads.data?.threads ?? [];
  if (bound.length === 0) {
    return null;
  }
  return (
    <Section title="Threads">
      <ul className="attempts">
        {bound.map(({ id, installation, integration, is_current: isCurrent, verbosity }) => (
          <li className="row sm" key={id}>
            <span className="grow">
              {platformName(integration)} <code>{installation}</code>
            </span>
            <span className="muted">
              {verbosity}
              {isCurrent ? "" : ", no longer bound"}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Deliveries({ runId }: { readonly runId: string }) {
  const queryKey = ["run", runId, "deliveries"];
  const deliveries = useQuery({
    queryKey,
    queryFn: ({ signal }) => client.runs.webhookDeliveries(runId, { limit: 20 }, { signal }),
    retry: false,
  });
  if (deliveries.error) {
    return (
      <Section title="Webhook deliveries">
        <Problem error={deliveries.error} />
      </Section>
    );
  }
  if (!deliveries.data?.deliveries.length) {
    return null;
  }
  const replay = async (id: string) => {
    try {
      await client.runs.replayWebhookDelivery(runId, id);
      say("The message is sent again.");
      await queries.invalidateQueries({ queryKey });
    } catch (error) {
      sayProblem(error);
    }
  };
  return (
    <Section title="Webhook deliveries">
      <ul className="attempts">
        {deliveries.data.deliveries.map((delivery) => (
          <li className="row sm" key={delivery.id}>
            <code>{delivery.type}</code>
            <span className={delivery.state === "dead" ? "c-fail" : "muted"}>{delivery.state}</span>
            <button type="button" className="btn ghost end" onClick={() => replay(delivery.id)}>
              Send again
            </button>
          </li>
        ))}
      </ul>
    </Section>
  );
}
