import "./run.css";
import type { RepositoryChanges, RunFollowup, RunItem } from "@errand/client";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { NotFound } from "../frame/not-found.tsx";
import { areKeysOff, isTyping } from "../frame/single-keys.ts";
import { copy } from "../parts/copy.ts";
import { Icon } from "../parts/icon.tsx";
import { Loading, Problem } from "../parts/problem.tsx";
import { hasEnded } from "../parts/state.tsx";
import { client } from "../server/client.ts";
import { load } from "../server/load.ts";
import { isGone, queries, runQuery, whoamiQuery } from "../server/queries.ts";
import { askToNotify, useAttention } from "./attention.ts";
import { Composer } from "./composer.tsx";
import { isOpenQuestion } from "./conversation/blocks.ts";
import type { Entry } from "./conversation/entries.ts";
import { ConversationView } from "./conversation-view.tsx";
import { FindBar } from "./find/find-bar.tsx";
import { HeldMessages } from "./held-messages.tsx";
import { agentName, personName } from "./names.ts";
import { RunAside, RunStrip } from "./run-aside.tsx";
import { type RunContext, RunContextProvider } from "./run-context.tsx";
import { GUEST_TABS, RunHead, TABS, type Tab } from "./run-head.tsx";
import { useRunLog } from "./run-log.ts";
import { markdownOf } from "./to-markdown.ts";

const ChangesTab = lazy(async () => ({
  default: (await load(() => import("./changes-tab.tsx"))).ChangesTab,
}));
const DetailsTab = lazy(async () => ({
  default: (await load(() => import("./details-tab.tsx"))).DetailsTab,
}));
const EventsTab = lazy(async () => ({ default: (await load(() => import("./events-tab.tsx"))).EventsTab }));
const FilesTab = lazy(async () => ({ default: (await load(() => import("./files-tab.tsx"))).FilesTab }));

/** The lines of the log that the tab Details lists. */
const ATTEMPT_LINES: ReadonlySet<string> = new Set(["attempt", "agent", "attemptEnd"]);

const NO_FOLLOW_UPS: ReadonlyMap<string, RunFollowup> = new Map();

export function RunPage({
  runId,
  guest,
  mayFollowUp,
}: {
  readonly runId: string;
  readonly guest: boolean;
  readonly mayFollowUp: boolean;
}) {
  const { data: run, error } = useQuery(runQuery(runId));
  if (error !== null && run === undefined) {
    return isGone(error) ? (
      <NotFound />
    ) : (
      <div className="run-problem">
        <Problem error={error} onRetry={() => queries.invalidateQueries({ queryKey: ["run", runId] })} />
      </div>
    );
  }
  return <OpenRun run={run} runId={runId} isGuest={guest} mayFollowUp={mayFollowUp} />;
}

function OpenRun({
  run,
  runId,
  isGuest,
  mayFollowUp,
}: {
  readonly run: RunItem | undefined;
  readonly runId: string;
  readonly isGuest: boolean;
  readonly mayFollowUp: boolean;
}) {
  const { log, view } = useRunLog(runId);
  const { facts } = view;
  const tab = useTab(isGuest);
  const { data: whoami } = useQuery({ ...whoamiQuery, enabled: !isGuest });
  const { data: followUps } = useQuery({
    queryKey: ["run", runId, "followups"],
    queryFn: ({ signal }) => client.runs.followUps(runId, { limit: 500 }, { signal }),
    enabled: !isGuest,
  });
  const changes = useQuery({
    queryKey: ["run", runId, "changes"],
    queryFn: ({ signal }) => client.runs.changes(runId, { signal }),
  });
  // The log is newer than the run that was read last.
  const isLogNewer = run === undefined || (facts.stateAt ?? "") >= run.updated_at;
  const state = (isLogNewer ? facts.state : undefined) ?? run?.state;
  const ended = state !== undefined && hasEnded(state);
  const find = useFind(tab === "conversation");
  useAttention(run, state);
  // biome-ignore lint/correctness/useExhaustiveDependencies: A new state or turn changes the run, its follow-ups and its changes.
  useEffect(() => {
    if (view.isLoaded) {
      void queries.invalidateQueries({ queryKey: ["run", runId] });
    }
  }, [facts.state, facts.turn, facts.lastEnd, view.held.length, runId]);
  useEffect(() => {
    if (run !== undefined) {
      log.resume(run);
    }
  }, [run, log]);
  const opened = useRef(new Map<string, boolean>()).current;
  const agent = agentName(run);
  const context = useMemo<RunContext>(
    () => ({
      run,
      runId,
      log,
      agent,
      servers: Object.keys(run?.agent_config?.mcp_servers ?? {}),
      followUps: followUps
        ? new Map(followUps.followups.map((each) => [each.followup_id, each]))
        : NO_FOLLOW_UPS,
      hasEnded: ended,
      isGuest,
      ownUid: whoami?.principal.uid,
      opened,
    }),
    [run, runId, log, agent, followUps, ended, isGuest, whoami, opened],
  );
  const toMarkdown = useCallback(
    (entries: readonly Entry[]) =>
      markdownOf(entries, {
        agent: context.agent,
        creator: personName(context.run?.creator),
        prompt: context.run?.prompt ?? "",
        servers: context.servers,
        author: (id) => personName(context.followUps.get(id)?.author),
      }),
    [context],
  );
  const copyEntry = useCallback((entry: Entry) => void copy(toMarkdown([entry]), "Entry"), [toMarkdown]);
  if (run === undefined || state === undefined) {
    return (
      <div className="run-problem">
        {view.error ? <Problem error={view.error} /> : <Loading what="the run" />}
      </div>
    );
  }
  const repositories = changes.data?.repositories;
  const summary = { run, facts, changes: repositories ?? [] };
  const question = view.rows.findLast(isOpenQuestion);
  const counts = {
    changes: repositories?.reduce((sum, { files }) => sum + files.length, 0) ?? 0,
    files: run.artifacts?.length ?? 0,
    events: view.eventCount,
  };
  return (
    <RunContextProvider value={context}>
      <RunHead
        run={run}
        state={state}
        endedAt={ended ? (facts.stateAt ?? run.updated_at) : undefined}
        counts={counts}
        onCopy={() => {
          void copy(toMarkdown(log.entries), "Conversation");
        }}
        onSearch={find.open}
      >
        {find.close && <FindBar view={view} onClose={find.close} />}
      </RunHead>
      {tab === "conversation" ? (
        <div className="run-body" onClickCapture={askToNotify}>
          <div className="thread">
            <RunStrip {...summary} questionKey={state === "BLOCKED" ? question?.key : undefined} />
            <section className="conversation" aria-label="Conversation">
              {view.error ? <Problem error={view.error} /> : null}
              {view.isLoaded ? (
                <ConversationView view={view} isSearched={find.close !== undefined} onCopy={copyEntry} />
              ) : (
                <Loading what="the conversation" />
              )}
              <HeldMessages />
              {!view.isConnected && (
                <p className="system-line inset">
                  <Icon name="warning" /> The connection is lost. It is tried again…
                </p>
              )}
            </section>
            {mayFollowUp ? (
              <Composer run={run} />
            ) : (
              <p className="composer-none">
                You see this run by a link. Only members can write to the agent.
              </p>
            )}
          </div>
          <RunAside {...summary} />
        </div>
      ) : (
        <TabPanel>{panel(tab, { run, context, changes: repositories, error: changes.error, view })}</TabPanel>
      )}
    </RunContextProvider>
  );
}

function panel(
  tab: Exclude<Tab, "conversation">,
  {
    run,
    context,
    changes,
    error,
    view,
  }: {
    readonly run: RunItem;
    readonly context: RunContext;
    readonly changes: readonly RepositoryChanges[] | undefined;
    readonly error: unknown;
    readonly view: ReturnType<typeof useRunLog>["view"];
  },
): ReactNode {
  switch (tab) {
    case "changes":
      return error ? (
        <Problem error={error} />
      ) : (
        <ChangesTab changes={changes} run={run} turns={view.facts.turn} />
      );
    case "files":
      return <FilesTab run={run} />;
    case "events":
      return view.isLoaded && <EventsTab runId={context.runId} eventCount={view.eventCount} />;
    case "details": {
      const attempts = context.log.entries.flatMap((entry) =>
        entry.kind === "line" && ATTEMPT_LINES.has(entry.name) ? [{ at: entry.at, text: entry.text }] : [],
      );
      return <DetailsTab run={run} attempts={attempts} />;
    }
    default:
      return tab satisfies never;
  }
}

function TabPanel({ children }: { readonly children: ReactNode }) {
  useEffect(() => {
    // It returns a promise in newer browsers, which is no clean-up of an effect.
    window.scrollTo(0, 0);
  }, []);
  return (
    <div className="tab-panel">
      <Suspense fallback={<Loading what="the tab" />}>{children}</Suspense>
    </div>
  );
}

/** The search in the conversation. `/` and the button open it. `close` is absent while it is closed. */
function useFind(isOffered: boolean) {
  const [isOpen, setOpen] = useState(false);
  const open = useCallback(() => setOpen(true), []);
  const close = useCallback(() => {
    // The keys of the conversation continue from the entry that was found.
    document.querySelector<HTMLElement>(".entry-row.linked")?.focus({ preventScroll: true });
    setOpen(false);
  }, []);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "/" && isOffered && !isTyping(event) && !areKeysOff()) {
        event.preventDefault();
        open();
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [isOffered, open]);
  return { open: isOffered ? open : undefined, close: isOffered && isOpen ? close : undefined };
}

/** The tab is part of the address. The keys 1 to 5 choose it. */
function useTab(isGuest: boolean): Tab {
  const { tab } = useSearch({ strict: false }) as { readonly tab?: unknown };
  const navigate = useNavigate();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const chosen = TABS[Number(event.key) - 1];
      if (chosen !== undefined && !isTyping(event) && !areKeysOff()) {
        const search = (before: object) => ({
          ...before,
          tab: chosen === "conversation" ? undefined : chosen,
        });
        void navigate({ to: ".", search: search as never });
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [navigate]);
  return TABS.find((each) => each === tab && (!isGuest || GUEST_TABS.has(each))) ?? "conversation";
}
