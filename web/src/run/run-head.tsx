import { type RunItem, type RunState, withHiddenShown } from "@errand/client";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useEffect, useState } from "react";
import { copy } from "../parts/copy.ts";
import { count, money } from "../parts/format.ts";
import { Icon } from "../parts/icon.tsx";
import { Checks, PULL_REQUEST_WORDS, pullRequestUrl } from "../parts/pull-request.tsx";
import { sourceOf } from "../parts/source.ts";
import { hasEnded, State } from "../parts/state.tsx";
import { Elapsed } from "../parts/time.tsx";
import { say, sayProblem } from "../parts/toasts.tsx";
import { client } from "../server/client.ts";
import { environmentsQuery, queries } from "../server/queries.ts";
import { useRetry } from "./entry-view.tsx";
import { numberOf, personName, safeUrl, whyOf } from "./names.ts";
import { useRun } from "./run-context.tsx";

export const TABS = ["conversation", "changes", "files", "events", "details"] as const;
export type Tab = (typeof TABS)[number];

/** What a guest of a share link may read. */
export const GUEST_TABS: ReadonlySet<Tab> = new Set(["conversation", "changes", "files", "events"]);

const TAB_NAMES: Readonly<Record<Tab, string>> = {
  conversation: "Conversation",
  changes: "Changes",
  files: "Files",
  events: "Events",
  details: "Details",
};

// Loaded when they are opened: the first view of a run stays small.
const RunMenu = lazy(async () => ({ default: (await import("./run-menu.tsx")).RunMenu }));
const ShareDialog = lazy(async () => ({ default: (await import("./share-dialog.tsx")).ShareDialog }));

/** Questions and approvals are shown in the conversation. */
const SHOWN_WAITS: ReadonlySet<string> = new Set(["worker_host", "capacity", "disk"]);

export function RunHead({
  run,
  state,
  endedAt,
  counts,
  onCopy,
  onSearch,
  children,
}: {
  readonly run: RunItem;
  readonly state: RunState;
  readonly endedAt: string | undefined;
  readonly counts: Readonly<Partial<Record<Tab, number>>>;
  readonly onCopy: () => void;
  /** Opens the search. Absent: the tab has none. */
  readonly onSearch: (() => void) | undefined;
  /** What stands below the tabs. */
  readonly children: ReactNode;
}) {
  const { isGuest, agent } = useRun();
  const source = sourceOf(run.source);
  const url = safeUrl(run.trigger_url);
  const place = run.agent_config?.repository;
  const model = run.agent?.model_id;
  const pull = safeUrl(pullRequestUrl(run));
  const status = run.pull_request_status?.url === pull ? run.pull_request_status : undefined;
  const cost = money(run.request_usage?.inference_cost_usd);
  return (
    <header className="run-head">
      <div className="run-head-title">
        <h1 dir="auto" title={withHiddenShown(run.title)}>
          {withHiddenShown(run.title)}
        </h1>
        <span className="run-head-state">
          <State state={state} run={run} pill />
        </span>
        <div className="run-acts">
          {onSearch && (
            <button
              type="button"
              className="btn only-icon"
              aria-label="Search in this run"
              title="Search in this run (/)"
              onClick={onSearch}
            >
              <Icon name="search" />
            </button>
          )}
          <Actions run={run} state={state} onCopy={onCopy} />
        </div>
      </div>
      <div className="facts">
        <Fact icon="clock">
          <Elapsed since={run.started_at ?? run.created_at} until={endedAt} exact />
        </Fact>
        <Fact icon={source.icon}>
          {url === undefined ? (
            source.name
          ) : (
            <a href={url} target="_blank" rel="noopener noreferrer">
              {source.name} {numberOf(url) ?? ""}
            </a>
          )}
          , {personName(run.creator)}
        </Fact>
        {(place !== undefined || run.agent_config?.environment_id !== undefined) && (
          <Fact icon="repository">
            {place}
            {run.agent_config?.ref && <span className="faint"> at {run.agent_config.ref}</span>}
            {run.agent_config?.environment_id !== undefined && (
              <Environment id={run.agent_config.environment_id} why={whyOf(run, "environment_id")} />
            )}
          </Fact>
        )}
        <Fact icon="agents" isOnDesk>
          {agent}
          {model !== undefined && `, ${model}`}
        </Fact>
        {cost !== "" && (
          <span className="num desk-only" title="Cost of the models so far">
            {cost}
          </span>
        )}
        {pull !== undefined && (
          <Fact icon="pullRequest" isOnDesk>
            <a href={pull} target="_blank" rel="noopener noreferrer">
              {numberOf(pull) ?? "Pull request"}
            </a>
            {status && `, ${PULL_REQUEST_WORDS[status.state].toLowerCase()} `}
            {status && <Checks status={status} />}
          </Fact>
        )}
        {!isGuest && run.waiting_for && SHOWN_WAITS.has(run.waiting_for.reason) && !hasEnded(state) && (
          <span className="run-waits" dir="auto">
            {run.waiting_for.message}
          </span>
        )}
      </div>
      {state === "SUCCEEDED" && run.outcome?.refused !== undefined && <Refused parts={run.outcome.refused} />}
      <nav className="tabs" aria-label="Run">
        {TABS.filter((each) => !isGuest || GUEST_TABS.has(each)).map((each) => (
          <Link
            key={each}
            to="."
            search={(before: object) =>
              ({ ...before, tab: each === "conversation" ? undefined : each }) as never
            }
            activeOptions={{ exact: true, includeSearch: true }}
          >
            {TAB_NAMES[each]}
            {(counts[each] ?? 0) > 0 && <span className="count">{count(counts[each] ?? 0)}</span>}
          </Link>
        ))}
      </nav>
      {children}
    </header>
  );
}

/** What was not handed over, why, and what to do. */
function Refused({ parts }: { readonly parts: NonNullable<NonNullable<RunItem["outcome"]>["refused"]> }) {
  return (
    <ul className="run-refused" aria-label="Not handed over">
      {parts.map(({ by, message, remedy, what }) => (
        <li key={`${what} ${by} ${message}`} dir="auto">
          {by}: {withHiddenShown(message)} {remedy}{" "}
          <Link to="." search={(before: object) => ({ ...before, tab: "changes" }) as never}>
            Show the patch
          </Link>
        </li>
      ))}
    </ul>
  );
}

function Fact({
  icon,
  isOnDesk = false,
  children,
}: {
  readonly icon: Parameters<typeof Icon>[0]["name"];
  readonly isOnDesk?: boolean;
  readonly children: ReactNode;
}) {
  return (
    <span className={isOnDesk ? "fact desk-only" : "fact"}>
      <Icon name={icon} />
      <span>{children}</span>
    </span>
  );
}

function Environment({ id, why }: { readonly id: string; readonly why: string | undefined }) {
  const { isGuest } = useRun();
  const { data } = useQuery({ ...environmentsQuery, enabled: !isGuest });
  const name = data?.environments.find(({ uid }) => uid === id)?.config.name ?? id;
  return (
    <span title={why === undefined ? undefined : `The environment is ${why}.`}>
      {" "}
      in {name}
      {why && <span className="faint"> ({why})</span>}
    </span>
  );
}

function Actions({
  run,
  state,
  onCopy,
}: {
  readonly run: RunItem;
  readonly state: RunState;
  readonly onCopy: () => void;
}) {
  const { isGuest, runId } = useRun();
  const [isSharing, setSharing] = useState(false);
  const [wantsMenu, setWantsMenu] = useState(false);
  const retry = useRetry();
  const isRetryShown = useAfterPause(hasEnded(state));
  const stop = useMutation({
    mutationFn: () => client.runs.cancel(runId),
    onSuccess: () => say("The run is stopped."),
    onError: sayProblem,
    onSettled: () => queries.invalidateQueries({ queryKey: ["run", runId] }),
  });
  const pause = useMutation({
    mutationFn: () => client.runs.interrupt(runId),
    onSuccess: () => say("The turn ends. Write what to do next."),
    onError: sayProblem,
    onSettled: () => queries.invalidateQueries({ queryKey: ["run", runId] }),
  });
  const mayPause = state === "INPROGRESS" || (state === "BLOCKED" && run.permission !== undefined);
  const choose = (key: string | number) => {
    switch (key) {
      case "markdown":
        onCopy();
        break;
      case "link":
        void copy(window.location.href, "Link");
        break;
      case "again":
        window.location.assign(`/new?from=${runId}`);
        break;
      case "retry":
        retry.mutate();
        break;
      case "share":
        setSharing(true);
        break;
      default:
        window.location.assign(`/api/v1/agent/runs/${runId}/transcript`);
    }
  };
  return (
    <>
      {!isGuest && mayPause && (
        <button type="button" className="btn" disabled={pause.isPending} onClick={() => pause.mutate()}>
          {pause.isPending ? "Pausing…" : "Pause"}
        </button>
      )}
      {!isGuest && !hasEnded(state) && (
        <button type="button" className="btn danger" disabled={stop.isPending} onClick={() => stop.mutate()}>
          <Icon name="stateStopped" /> {stop.isPending ? "Stopping…" : "Stop"}
        </button>
      )}
      {!isGuest && hasEnded(state) && (
        <button
          type="button"
          className="btn"
          disabled={retry.isPending || !isRetryShown}
          onClick={() => retry.mutate()}
        >
          <Icon name="retry" /> {retry.isPending ? "Starting…" : "Retry"}
        </button>
      )}
      {!isGuest && (
        <button type="button" className="btn desk-only" onClick={() => setSharing(true)}>
          <Icon name="share" /> Share
        </button>
      )}
      {wantsMenu ? (
        <Suspense fallback={<MoreButton />}>
          <RunMenu isGuest={isGuest} onAction={choose} />
        </Suspense>
      ) : (
        <MoreButton onClick={() => setWantsMenu(true)} />
      )}
      {isSharing && (
        <Suspense>
          <ShareDialog runId={runId} title={run.title} onClose={() => setSharing(false)} />
        </Suspense>
      )}
    </>
  );
}

const PAUSE_MS = 1_000;

/** Becomes true a moment later. Retry takes the place of Stop, and a second click on Stop must not hit it. */
function useAfterPause(isTrue: boolean): boolean {
  const [isPast, setPast] = useState(isTrue);
  useEffect(() => {
    const timer = setTimeout(() => setPast(isTrue), isTrue ? PAUSE_MS : 0);
    return () => clearTimeout(timer);
  }, [isTrue]);
  return isPast;
}

function MoreButton({ onClick }: { readonly onClick?: () => void }) {
  return (
    <button
      type="button"
      className="btn only-icon"
      aria-label="More actions"
      aria-haspopup="menu"
      onClick={onClick}
    >
      <Icon name="more" />
    </button>
  );
}
