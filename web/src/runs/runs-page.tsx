import "./runs.css";
import type { RunItem } from "@errand/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useMemo, useRef } from "react";
import { PageHead } from "../frame/page-head.tsx";
import { needsReader } from "../parts/deciders.ts";
import { plural } from "../parts/format.ts";
import { Loading, Problem } from "../parts/problem.tsx";
import { hasEnded, STATES } from "../parts/state.tsx";
import { environmentsQuery, whoamiQuery } from "../server/queries.ts";
import { useMay } from "../server/rights.ts";
import { Filters } from "./filters.tsx";
import { FirstRun } from "./first-run.tsx";
import { groupsOf, type RunsGroup } from "./groups.ts";
import { RunHeads, RunRow } from "./run-row.tsx";
import { type RunsSearch, type RunsView, VIEWS } from "./runs-search.ts";
import { SavedFilters } from "./saved-filters.tsx";
import { SelectionBar } from "./selection-bar.tsx";
import { useKeptFocus } from "./use-kept-focus.ts";
import { useListKeys } from "./use-list-keys.ts";
import { useRuns } from "./use-runs.ts";
import { type Selection, useSelection } from "./use-selection.ts";
import { ViewLink } from "./view-link.tsx";

/** The list of runs: what needs the user stands on top, then what runs, then what ended. */
export function RunsPage() {
  const search = useSearch({ from: "/" });
  const { data: whoami, error, refetch } = useQuery(whoamiQuery);
  const me = whoami?.principal.uid;
  const lists = useRuns(search, me);
  const { active, ended, isEmpty, isLoading, problem } = lists;
  const groups = groupsOf(lists, search);
  const stoppable = useMemo(() => active.filter(({ state }) => !hasEnded(state)), [active]);
  const mayStop = useMay("runs:write") === true;
  const offered = useMemo(
    () =>
      mayStop ? [...stoppable.filter(needsReader), ...stoppable.filter((run) => !needsReader(run))] : [],
    [mayStop, stoppable],
  );
  const selection = useSelection(offered);
  const list = useRef<HTMLDivElement>(null);
  useListKeys(list, selection);
  useKeptFocus(list);
  const isBoard = search.layout === "board";
  const needs = active.filter(needsReader).length;
  if (isEmpty && Object.keys(search).length === 0) {
    return <FirstRun />;
  }
  return (
    <div className={isBoard ? "page wide" : "page"}>
      <PageHead
        title={search.view === undefined ? "All runs" : nameOf(search.view)}
        needs={needs}
        text={isLoading ? SPACE : summary(needs, stoppable.length - needs, ended.length, lists.hasMoreEnded)}
      >
        <Layouts search={search} />
      </PageHead>
      <Views />
      <Filters search={search} />
      <SavedFilters search={search} />
      {problem && <Problem error={problem} onRetry={lists.retry} />}
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {isLoading && problem === null && error === null && <Loading what="runs" />}
      {isEmpty && <NothingMatches search={search} />}
      {!isLoading && !isEmpty && !isBoard && <RunHeads />}
      <div ref={list} className={isBoard ? "board" : undefined}>
        {!isLoading &&
          me !== undefined &&
          groups.map(({ name, runs }) => (
            <Group key={name} name={name} runs={runs} me={me} selection={mayStop ? selection : undefined} />
          ))}
      </div>
      {!isLoading && lists.hasMore && (
        <p className="gap-above">
          <button type="button" className="btn" disabled={lists.isReadingMore} onClick={lists.readMore}>
            {lists.isReadingMore ? "Loading…" : "Show more"}
          </button>
        </p>
      )}
      <SelectionBar selection={selection} />
    </div>
  );
}

/** Keeps the line of the summary, so that nothing moves when the runs have come. */
const SPACE = "\u00a0";

function nameOf(view: RunsView): string {
  return VIEWS.find(({ id }) => id === view)?.name ?? "";
}

function summary(needs: number, running: number, ended: number, hasMore: boolean): string {
  return [
    needs > 0 ? `${plural(needs, "run")} ${needs === 1 ? "needs" : "need"} you` : "",
    running > 0 ? `${running} running` : "",
    ended > 0 ? `${ended}${hasMore ? "+" : ""} ended` : "",
  ]
    .filter(Boolean)
    .join(", ");
}

function Group({
  name,
  runs,
  me,
  selection,
}: RunsGroup & { readonly me: string; readonly selection: Selection | undefined }) {
  const { data } = useQuery({
    ...environmentsQuery,
    enabled: runs.some(({ agent_config: config }) => config?.environment_id !== undefined),
  });
  const environmentOf = ({ agent_config: config }: RunItem) =>
    config?.environment_id === undefined
      ? undefined
      : (data?.environments.find(({ uid }) => uid === config.environment_id)?.config.name ?? SPACE);
  return runs.length === 0 ? null : (
    <section className="runs-group">
      <div className="runs-group-head">
        <h2>{name}</h2>
        <span className="faint xs">{runs.length}</span>
        <span className="faint xs">{statesText(runs)}</span>
      </div>
      <ul className="runs">
        {runs.map((run) => (
          <li key={run.run_id}>
            <RunRow
              run={run}
              me={me}
              environment={environmentOf(run)}
              selection={hasEnded(run.state) ? undefined : selection}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** How many of the runs have each state: `4 working, 2 waiting`. Nothing if all have the same. */
function statesText(runs: readonly RunItem[]): string {
  const counts = new Map<string, number>();
  for (const { state } of runs) {
    const word = STATES[state].word.toLowerCase();
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts.size < 2 ? "" : [...counts].map(([word, count]) => `${count} ${word}`).join(", ");
}

/** The list, or a board with a column for each state. */
function Layouts({ search: { layout, ...search } }: { readonly search: RunsSearch }) {
  const isBoard = layout === "board";
  return (
    <nav className="segments" aria-label="Layout">
      <Link to="/" search={search} activeOptions={EXACT} aria-current={isBoard ? undefined : "page"}>
        List
      </Link>
      <Link
        to="/"
        search={{ ...search, layout: "board" }}
        activeOptions={EXACT}
        aria-current={isBoard ? "page" : undefined}
      >
        Board
      </Link>
    </nav>
  );
}

const EXACT = { exact: true, includeSearch: true };

/** The views of a phone, whose rail is hidden. */
function Views() {
  return (
    <nav className="views" aria-label="Views">
      {VIEWS.map(({ id, name }) => (
        <ViewLink key={id} view={id}>
          {name}
        </ViewLink>
      ))}
    </nav>
  );
}

const EMPTY_VIEWS: Readonly<Record<RunsView, string>> = {
  mine: "You have started no run yet.",
  needs: "No run needs you.",
  running: "No run is working or waiting.",
  all: "There is no run yet.",
};

function NothingMatches({ search: { layout, view, ...filters } }: { readonly search: RunsSearch }) {
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <div className="card pad">
      <p dir="auto">{isFiltered ? nothingMatches(filters) : EMPTY_VIEWS[view ?? "all"]}</p>
      <p className="gap-above">
        {isFiltered ? (
          <Link className="btn" to="/" search={{ ...(view && { view }), ...(layout && { layout }) }}>
            Clear filters
          </Link>
        ) : (
          <Link className="btn" to="/" search={{}}>
            All runs
          </Link>
        )}
      </p>
    </div>
  );
}

function nothingMatches({ q, ...others }: Omit<RunsSearch, "layout" | "view">): string {
  const hasOthers = Object.keys(others).length > 0;
  if (q === undefined) {
    return "No run matches these filters.";
  }
  return hasOthers ? `No run matches “${q}” and these filters.` : `No run matches “${q}”.`;
}
