import { type RunItem, type RunState, withHiddenShown } from "@errand/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from "react";
import { areKeysOff, isTyping } from "../frame/single-keys.ts";
import { count, money } from "../parts/format.ts";
import { Icon } from "../parts/icon.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { Checks, PULL_REQUEST_WORDS, pullRequestUrl } from "../parts/pull-request.tsx";
import { sourceOf } from "../parts/source.ts";
import { hasEnded, State } from "../parts/state.tsx";
import { Elapsed } from "../parts/time.tsx";
import { VISITOR } from "../server/page.ts";
import { environmentsQuery } from "../server/queries.ts";
import { writeNext } from "./composer.tsx";
import { numberOf, personName, safeUrl, whyOf } from "./names.ts";
import { type ActionId, type RunAction, useRunActions } from "./run-actions.ts";
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
            <IconButton icon="search" name="Search in this run" keyName="/" className="" onClick={onSearch} />
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
        {state === "CANCELLED" && VISITOR !== "viewer" && <Stopped />}
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

/** A stopped run continues with the next message. */
function Stopped() {
  const navigate = useNavigate();
  const search = (before: object) => ({ ...before, tab: undefined }) as never;
  return (
    <span className="fact">
      Stopped.
      <button
        type="button"
        className="btn ghost"
        onClick={() => {
          writeNext();
          void navigate({ to: ".", search });
        }}
      >
        Continue
      </button>
    </span>
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
  const { runId } = useRun();
  const [isSharing, setSharing] = useState(false);
  const [wantsMenu, setWantsMenu] = useState(false);
  const actions = useRunActions(run, state, () => setSharing(true));
  useActionKeys(actions);
  const isRetryShown = useAfterPause(hasEnded(state));
  const button = (id: ActionId, className = "btn") => {
    const action = actions.find((each) => each.id === id);
    return (
      action && (
        <button
          type="button"
          className={className}
          disabled={action.isPending || (id === "retry" && !isRetryShown)}
          onClick={action.perform}
        >
          {id !== "pause" && <Icon name={action.icon} />} {action.isPending ? action.busy : action.name}
        </button>
      )
    );
  };
  return (
    <>
      {button("pause")}
      {button("stop", "btn danger")}
      {button("retry")}
      {button("share", "btn desk-only")}
      {wantsMenu ? (
        <Suspense fallback={<MoreButton />}>
          <RunMenu actions={actions} onCopy={onCopy} />
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

/** The actions that have a key. A key that is held down acts once. */
function useActionKeys(actions: readonly RunAction[]): void {
  const current = useRef(actions);
  current.current = actions;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.repeat || isTyping(event) || areKeysOff()) {
        return;
      }
      const action = current.current.find(({ key }) => key === event.key.toLowerCase());
      if (action?.isPending === false) {
        action.perform();
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
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
  return <IconButton icon="more" name="More actions" className="" aria-haspopup="menu" onClick={onClick} />;
}
