import "./runs.css";
import type { RunItem } from "@errand/client";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Button, ListBox, ListBoxItem, Popover, Select, SelectValue } from "react-aria-components";
import { PageHead } from "../frame/page-head.tsx";
import { areKeysOff, isTyping } from "../frame/single-keys.ts";
import { Avatar } from "../parts/avatar.tsx";
import { needsReader } from "../parts/deciders.ts";
import { money, plural } from "../parts/format.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import { Loading, Problem } from "../parts/problem.tsx";
import { Checks, checksText, PULL_REQUEST_WORDS, pullRequestUrl } from "../parts/pull-request.tsx";
import { hasEnded, RUNNING_STATES, STATES, State } from "../parts/state.tsx";
import { Ago, Elapsed } from "../parts/time.tsx";
import { agentName } from "../run/names.ts";
import { environmentsQuery, runsQuery, whoamiQuery } from "../server/queries.ts";
import { FirstRun } from "./first-run.tsx";
import { type RunsSearch, runsFilter, SOURCES, VIEWS } from "./runs-search.ts";

const ENDED_STATES = (["SUCCEEDED", "FAILED", "ERROR", "CANCELLED"] as const).slice();

/** The list of runs: what needs the user stands on top, then what runs, then what ended. */
export function RunsPage() {
  const search = useSearch({ from: "/" });
  const { data: whoami } = useQuery(whoamiQuery);
  const me = whoami?.principal.uid;
  const view = VIEWS.find(({ id }) => id === (search.view ?? "all"))?.name ?? "All";
  return me === undefined ? (
    <div className="page">
      <PageHead title={`${view} runs`} />
      <Loading what="runs" />
    </div>
  ) : (
    <RunsOf me={me} search={search} title={search.view === undefined ? "All runs" : view} />
  );
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
      <Views search={search} />
      <Filters search={search} />
      {problem && (
        <Problem error={problem} onRetry={() => void Promise.all([running.refetch(), ended.refetch()])} />
      )}
      {isLoading && problem === null && <Loading what="runs" />}
      {isEmpty && <NothingMatches search={search} />}
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
            {ended.isFetchingNextPage ? "Loading…" : "Show 50 more"}
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

const SOURCE_ICONS: Readonly<Record<string, IconName>> = {
  SLACK: "hash",
  GITHUB_WEBHOOK: "branch",
  GITHUB_ACTION: "branch",
  SCHEDULED_AGENT: "clock",
  WEB_APP: "window",
  CLI: "terminal",
};

function RunRow({ run, me }: { readonly run: RunItem; readonly me: string }) {
  const { creator, run_id, source, state, title } = run;
  const isOver = hasEnded(state);
  const name = creator.uid === me ? "You" : (creator.display_name ?? creator.email ?? "A member");
  const pull = pullRequest(run);
  return (
    <div className="run-row">
      <div className="run-state">
        <State state={state} run={run} />
      </div>
      <div className="run-what">
        <Link className="run-title one" to="/runs/$id" params={{ id: run_id }} title={title} dir="auto">
          {title}
        </Link>
        <span className="run-sub one" dir="auto">
          {secondLine(run)}
        </span>
      </div>
      <div className="run-cell run-repo">
        <span className="one" title={run.agent_config?.repository}>
          {run.agent_config?.repository ?? ""}
        </span>
      </div>
      <div className="run-cell run-who">
        <Avatar name={creator.display_name ?? creator.email ?? "?"} />
        <span className="one">{name}</span>
        <span title={SOURCES[source] ?? source}>
          <Icon name={SOURCE_ICONS[source] ?? "code"} />
          <span className="sr">from {SOURCES[source] ?? source}</span>
        </span>
      </div>
      <div className="run-cell run-pull">
        {pull && (
          <a className="run-act row" href={pull.url} rel="noopener noreferrer" target="_blank">
            <Icon name="pullRequest" />
            <span>
              <span className="sr">Pull request </span>
              {pull.number}
            </span>
            {run.pull_request_status?.url === pull.url && (
              <>
                <span className="sr">, {PULL_REQUEST_WORDS[run.pull_request_status.state]}, </span>
                <Checks status={run.pull_request_status} wordsHidden />
              </>
            )}
          </a>
        )}
      </div>
      <div className="run-cell run-cost r">{money(run.request_usage?.inference_cost_usd)}</div>
      <div className="run-cell run-time r">
        {run.waiting_for?.may_decide === true ? (
          <Link className="btn run-act" to="/runs/$id" params={{ id: run_id }}>
            {run.waiting_for.reason === "approval" ? "Review" : "Answer"}
          </Link>
        ) : isOver ? (
          <Ago time={run.updated_at} />
        ) : (
          <Elapsed since={run.started_at ?? run.created_at} />
        )}
      </div>
    </div>
  );
}

/** Says what the run waits for, does, or came to. */
function secondLine(run: RunItem): ReactNode {
  const { permission, pull_request_status: pull, result, state, status_message, waiting_for } = run;
  if (permission !== undefined && state === "BLOCKED") {
    return (
      <>
        Asks: <code>{permission.title}</code>
      </>
    );
  }
  if (waiting_for !== undefined && (waiting_for.reason === "approval" || !hasEnded(state))) {
    return waiting_for.message;
  }
  if (state === "SUCCEEDED" && pull !== undefined) {
    return [`Pull request: ${PULL_REQUEST_WORDS[pull.state].toLowerCase()}`, checksText(pull)]
      .filter(Boolean)
      .join(", ");
  }
  if (status_message !== undefined) {
    return status_message.message;
  }
  if (state === "SUCCEEDED") {
    return result?.text.split("\n").find((line) => line.trim() !== "") ?? "";
  }
  return state === "INPROGRESS" ? `${agentName(run)} is working` : "";
}

function pullRequest(run: RunItem): { readonly url: string; readonly number: string } | undefined {
  const url = pullRequestUrl(run);
  return url !== undefined && /^https?:/.test(url)
    ? { url, number: `#${/(\d+)\/?$/.exec(url)?.[1] ?? ""}` }
    : undefined;
}

/** The views of a phone, whose rail is hidden. */
function Views({ search }: { readonly search: RunsSearch }) {
  return (
    <nav className="views" aria-label="Views">
      {VIEWS.map(({ id, name }) => (
        <Link
          key={id}
          to="/"
          search={id === "all" ? {} : { view: id }}
          {...((search.view ?? "all") === id ? { "aria-current": "page" as const } : {})}
        >
          {name}
        </Link>
      ))}
    </nav>
  );
}

const SINCE = { day: "Last day", week: "Last week", month: "Last month" } as const;

function Filters({ search }: { readonly search: RunsSearch }) {
  const navigate = useNavigate({ from: "/" });
  const { data: environments } = useQuery(environmentsQuery);
  const [text, setText] = useState(search.q ?? "");
  useEffect(() => setText(search.q ?? ""), [search.q]);
  const set = (
    change: { readonly [Key in keyof RunsSearch]?: RunsSearch[Key] | undefined },
    replace = false,
  ) => {
    const changed = Object.fromEntries(
      Object.entries({ ...search, ...change }).filter(([, value]) => value !== undefined && value !== ""),
    ) as RunsSearch;
    void navigate({ search: changed, replace });
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: Only typing starts the timer.
  useEffect(() => {
    const timer = setTimeout(() => text !== (search.q ?? "") && set({ q: text }, true), 250);
    return () => clearTimeout(timer);
  }, [text]);
  const filters = [
    <Filter
      key="state"
      name="State"
      value={search.state}
      options={Object.entries(STATES).map(([id, { word }]) => ({ id, name: word }))}
      onChange={(state) => set({ state: state as RunsSearch["state"] })}
    />,
    <Filter
      key="source"
      name="Source"
      value={search.source}
      options={Object.entries(SOURCES).map(([id, name]) => ({ id, name }))}
      onChange={(source) => set({ source: source as RunsSearch["source"] })}
    />,
    <Filter
      key="environment"
      name="Environment"
      value={search.environment}
      options={(environments?.environments ?? []).map(({ uid, config }) => ({ id: uid, name: config.name }))}
      onChange={(environment) => set({ environment })}
    />,
    <Filter
      key="since"
      name="Created"
      value={search.since}
      options={Object.entries(SINCE).map(([id, name]) => ({ id, name }))}
      onChange={(since) => set({ since: since as RunsSearch["since"] })}
    />,
  ];
  // Active filters stand first.
  const isActive = (key: string | null) => search[key as keyof RunsSearch] !== undefined;
  return (
    <search className="filters">
      <div className="search">
        <Icon name="search" />
        <input
          className="input"
          type="search"
          aria-label="Search runs"
          placeholder="Search title, prompt, skill"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <kbd className="desk-only">/</kbd>
      </div>
      {filters.toSorted((one, other) => Number(isActive(other.key)) - Number(isActive(one.key)))}
    </search>
  );
}

interface Option {
  readonly id: string;
  readonly name: string;
}

function Filter({
  name,
  value,
  options,
  onChange,
}: {
  readonly name: string;
  readonly value: string | undefined;
  readonly options: readonly Option[];
  readonly onChange: (value: string | undefined) => void;
}) {
  const chosen = options.find(({ id }) => id === value);
  return (
    <span className="filter">
      <Select
        aria-label={name}
        value={value ?? null}
        onChange={(key) => onChange(key === null ? undefined : String(key))}
      >
        <Button className={value === undefined ? "pick" : "pick on"}>
          <span className="key">{name}</span>
          {value !== undefined && (
            <SelectValue>
              <b>{chosen?.name ?? value}</b>
            </SelectValue>
          )}
          {value === undefined && <Icon name="chevronDown" />}
        </Button>
        <Popover className="popover">
          <ListBox items={options} renderEmptyState={() => <p className="hint pad">There is none.</p>}>
            {(option) => (
              <ListBoxItem className="option" id={option.id} textValue={option.name}>
                {option.name}
              </ListBoxItem>
            )}
          </ListBox>
        </Popover>
      </Select>
      {value !== undefined && (
        <button
          type="button"
          className="btn ghost only-icon"
          aria-label={`Remove the filter ${name}`}
          onClick={() => onChange(undefined)}
        >
          <Icon name="close" />
        </button>
      )}
    </span>
  );
}

function NothingMatches({ search }: { readonly search: RunsSearch }) {
  return (
    <div className="card pad">
      <p dir="auto">
        {search.q === undefined
          ? "No run matches these filters."
          : `No run matches “${search.q}” and these filters.`}
      </p>
      <p className="gap-above">
        <Link className="btn" to="/" search={{}}>
          Clear filters
        </Link>
      </p>
    </div>
  );
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
