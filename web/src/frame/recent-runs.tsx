import { withHiddenShown } from "@errand/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Icon } from "../parts/icon.tsx";
import { STATES, stateWord } from "../parts/state.tsx";
import { Ago } from "../parts/time.tsx";
import { client } from "../server/client.ts";
import { runQuery } from "../server/queries.ts";

const SHOWN = 7;

/** The last changed runs in the repository of this run, or of the same person if it has none. */
export function RecentRuns({ runId }: { readonly runId: string }) {
  // The page of the run reads it.
  const { data: run } = useQuery({ ...runQuery(runId), enabled: false });
  const repository = run?.agent_config?.repository;
  const filter = repository === undefined ? { creator: run?.creator.uid ?? "" } : { repository };
  const { data } = useQuery({
    queryKey: ["runs", "recent", filter],
    queryFn: ({ signal }) => client.runs.list({ ...filter, limit: SHOWN }, { signal }),
    enabled: run !== undefined,
  });
  return (
    <nav aria-label="Recent runs">
      <h2>{repository === undefined ? "Recent" : `Recent in ${repository}`}</h2>
      <ul>
        {data?.runs.map((each) => (
          <li key={each.run_id}>
            <Link
              className="rail-link"
              to="/runs/$id"
              params={{ id: each.run_id }}
              title={withHiddenShown(each.title)}
              {...(each.run_id === runId ? { "aria-current": "page" as const } : {})}
            >
              <span className={`state ${STATES[each.state].tone}`}>
                <Icon name={STATES[each.state].icon} />
                <span className="sr">{stateWord(each.state, each)}: </span>
              </span>
              <span className="one grow" dir="auto">
                {withHiddenShown(each.title)}
              </span>
              <span className="faint xs nowrap">
                <Ago time={each.updated_at} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
