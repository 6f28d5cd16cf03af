import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { PageHead } from "../frame/page-head.tsx";
import { Loading, Problem } from "../parts/problem.tsx";
import { runQuery, runsQuery, whoamiQuery } from "../server/queries.ts";
import { RunForm } from "./run-form.tsx";

/** `/new`, and `/new?from=…` with the choices of an earlier run. */
export function NewRunPage() {
  const { from } = useSearch({ from: "/new" });
  const { data: whoami } = useQuery(whoamiQuery);
  const template = useQuery({ ...runQuery(from ?? ""), enabled: from !== undefined });
  const past = useInfiniteQuery({
    ...runsQuery({ creator: whoami?.principal.uid ?? "", limit: 6 }),
    enabled: whoami !== undefined,
  });
  return (
    <div className="page">
      <PageHead
        title="New run"
        {...(template.data ? { text: `With the choices of “${template.data.title}”.` } : {})}
      />
      <div className="with-aside">
        <div>
          {template.error && <Problem error={template.error} />}
          {from !== undefined && template.isPending ? (
            <Loading what="the run" />
          ) : (
            <RunForm key={from} {...(template.data ? { from: template.data } : {})} />
          )}
        </div>
        <aside aria-labelledby="past">
          <h2 id="past" className="sm">
            Run again with changes
          </h2>
          <ul className="card past gap-above">
            {(past.data ?? []).map(({ run_id, title, agent_config }) => (
              <li key={run_id}>
                <Link to="/new" search={{ from: run_id }}>
                  <span className="one" dir="auto">
                    {title}
                  </span>
                  <span className="faint xs one">{agent_config?.repository ?? "no repository"}</span>
                </Link>
              </li>
            ))}
            {past.data?.length === 0 && <li className="hint pad">Your runs appear here.</li>}
          </ul>
        </aside>
      </div>
    </div>
  );
}
