import "./runs.css";
import type { RunItem } from "@errand/client";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { PageHead } from "../frame/page-head.tsx";
import { areKeysOff, isTyping } from "../frame/single-keys.ts";
import { needsReader } from "../parts/deciders.ts";
import { plural } from "../parts/format.ts";
import { Loading, Problem } from "../parts/problem.tsx";
import { hasEnded, RUNNING_STATES } from "../parts/state.tsx";
import { runsQuery, whoamiQuery } from "../server/queries.ts";
import { Filters } from "./filters.tsx";
import { FirstRun } from "./first-run.tsx";
import { RunHeads, RunRow } from "./run-row.tsx";
import { type RunsSearch, type RunsView, runsFilter, VIEWS } from "./runs-search.ts";
import { ViewLink } from "./view-link.tsx";

const ENDED_STATES = (["SUCCEEDED", "FAILED", "ERROR", "CANCELLED"] as const).slice();

/** The list of runs: what needs the user stands on top, then what runs, then what ended. */
export function RunsPage() {
  const search = useSearch({ from: "/" });
  const { data: whoami, error, refetch } = useQuery(whoamiQuery);
  const me = whoami?.principal.uid;
  const title = search.view === undefined ? "All runs" : nameOf(search.view);
  return me === undefined ? (
    <div className="page">
      <PageHead title={title} />
      {error ? <Problem error={error} onRetry={() => void refetch()} /> : <Loading what="runs" />}
    </div>
  ) : (
    <RunsOf me={me} search={search} title={title} />
  );
}

function nameOf(view: RunsView): string {
  return VIEWS.find(({ id }) => id === view)?.name ?? "";
}

function RunsOf({
  me,
  search,
  title,
}: {
  readonly me: string;
  readonly search: RunsSearch;
  readonly title: string;
}) {
  const filter = runsFilter(search, me);
  const wantsRunning = filter.state === undefined || filter.state.some((state) => !hasEnded(state));
  const wantsEnded = filter.state === undefined || filter.state.some(hasEnded);
  const running = useInfiniteQuery({
    ...runsQuery({
      ...filter,
      state: filter.state ?? [...RUNNING_STATES],
      sort_by: "created_at",
      limit: 100,
    }),
    enabled: wantsRunning,
  });
  const ended = useInfiniteQuery({
    ...runsQuery({ ...filter, state: filter.state ?? [...ENDED_STATES] }),
    enabled: wantsEnded,
  });
  const list = useRef<HTMLDivElement>(null);
  useListKeys(list);
  const active = running.data ?? [];
  const needs = active.filter(needsReader);
  const waiting = active.filter((run) => run.state === "BLOCKED" && !needsReader(run));
  const others = active.filter(({ state }) => state !== "BLOCKED" && !hasEnded(state));
  const old = wantsEnded ? (ended.data ?? []) : [];
  const today = old.filter(({ updated_at }) => isToday(updated_at));
  const earlier = old.filter(({ updated_at }) => !isToday(updated_at));
  const problem = running.error ?? ended.error;
  const isLoading = (wantsRunning && running.isPending) || (wantsEnded && ended.isPending);
  const isEmpty = !isLoading && problem === null && active.length + old.length === 0;
  const isFiltered = Object.keys(search).length > 0;
  if (isEmpty && !isFiltered) {
    return <FirstRun />;
  }
  return (
    <div className="page">
      <PageHead
        title={title}
        needs={needs.length}
        text={
          isLoading
            ? ""
            : summary(needs.length, waiting.length + others.length, old.length, ended.hasNextPage)
        }
      />
      <Views />
      <Filters search={search} />
      {problem && (
        <Problem error={problem} onRetry={() => void Promise.all([running.refetch(), ended.refetch()])} />
      )}
      {isLoading && problem === null && <Loading what="runs" />}
      {isEmpty && <NothingMatches search={search} />}
      {active.length + old.length > 0 && <RunHeads />}
      <div ref={list}>
        <Group name="Needs you" runs={needs} me={me} />
        <Group name="Needs another person" runs={waiting} me={me} />
        <Group name="Running" runs={others} me={me} />
        <Group name="Ended today" runs={today} me={me} />
        <Group name="Earlier" runs={earlier} me={me} />
      </div>
      {(ended.hasNextPage || running.hasNextPage) && (
        <p className="gap-above">
          <button
            type="button"
            className="btn"
            disabled={ended.isFetchingNextPage}
            onClick={() => void (running.hasNextPage ? running.fetchNextPage() : ended.fetchNextPage())}
          >
            {ended.isFetchingNextPage ? "Loading…" : "Show more"}
          </button>
        </p>
      )}
    </div>
  );
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

function isToday(time: string): boolean {
  return new Date(time).toDateString() === new Date().toDateString();
}

function Group({
  name,
  runs,
  me,
}: {
  readonly name: string;
  readonly runs: readonly RunItem[];
  readonly me: string;
}) {
  return runs.length === 0 ? null : (
    <section className="runs-group">
      <div className="runs-group-head">
        <h2>{name}</h2>
        <span className="faint xs">{runs.length}</span>
      </div>
      <ul className="runs">
        {runs.map((run) => (
          <li key={run.run_id}>
            <RunRow run={run} me={me} />
          </li>
        ))}
      </ul>
    </section>
  );
}

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

function NothingMatches({ search: { view, ...filters } }: { readonly search: RunsSearch }) {
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <div className="card pad">
      <p dir="auto">{isFiltered ? nothingMatches(filters) : EMPTY_VIEWS[view ?? "all"]}</p>
      <p className="gap-above">
        {isFiltered ? (
          <Link className="btn" to="/" search={view === undefined ? {} : { view }}>
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

function nothingMatches({ q, ...others }: Omit<RunsSearch, "view">): string {
  const hasOthers = Object.keys(others).length > 0;
  if (q === undefined) {
    return "No run matches these filters.";
  }
  return hasOthers ? `No run matches “${q}” and these filters.` : `No run matches “${q}”.`;
}

/** J and K move between the rows; Enter opens the row because its link has the focus. */
function useListKeys(list: React.RefObject<HTMLDivElement | null>): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const step = event.key === "j" ? 1 : event.key === "k" ? -1 : 0;
      if (step === 0 || isTyping(event) || areKeysOff()) {
        return;
      }
      const links = [...(list.current?.querySelectorAll<HTMLElement>(".run-title") ?? [])];
      const at = links.indexOf(document.activeElement as HTMLElement);
      links[Math.max(0, Math.min(links.length - 1, at + step))]?.focus();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [list]);
}
