import { withHiddenShown } from "@errand/client";
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useRouterState } from "@tanstack/react-router";
import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { Avatar } from "../parts/avatar.tsx";
import { Icon, type IconName, Mark } from "../parts/icon.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { STATES } from "../parts/state.tsx";
import { Toasts } from "../parts/toasts.tsx";
import { type RunsView, VIEWS } from "../runs/runs-search.ts";
import { useViewCounts } from "../runs/view-counts.ts";
import { ViewLink } from "../runs/view-link.tsx";
import { runInAddress, VISITOR } from "../server/page.ts";
import { deadNoticesQuery, runQuery, whoamiQuery } from "../server/queries.ts";
import { useMay, useRights } from "../server/rights.ts";
import type { DialogName } from "./commands.tsx";
import { CONFIGURE, isOffered, OPERATE, type Place } from "./places.ts";
import { RecentRuns } from "./recent-runs.tsx";
import { Shortcuts } from "./shortcuts.tsx";
import { TroubleToast } from "./trouble-toast.tsx";

/** What surrounds every page: the rail, or a bar and a drawer on small screens. A guest sees only the page. */
export function Frame() {
  if (VISITOR !== "member") {
    return (
      <>
        <a className="skip" href="#main">
          Skip to content
        </a>
        <header className="guest-bar">
          <span className="brand">
            <Mark /> Errand
          </span>
          <span className="faint sm end">Shared with you</span>
        </header>
        <main id="main" tabIndex={-1}>
          <Outlet />
        </main>
        <Toasts>
          <TroubleToast />
        </Toasts>
      </>
    );
  }
  return <MembersFrame />;
}

function MembersFrame() {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const { isOpen, open, close, drawer } = useDrawer(path);
  const [dialog, setDialog] = useState<DialogName>();
  return (
    <div className="frame">
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className={isOpen ? "rail open" : "rail"} ref={drawer}>
        <div className="rail-in">
          <Rail runId={runInAddress(path)} onClose={close} onCommands={() => setDialog("commands")} />
        </div>
      </header>
      {isOpen && <button type="button" className="veil" aria-label="Close the menu" onClick={close} />}
      <main id="main" className="main" tabIndex={-1} inert={isOpen}>
        <div className="app-bar">
          <IconButton icon="menu" name="Menu" aria-expanded={isOpen} onClick={open} />
          <BarTitle runId={runInAddress(path)} />
          <Link className="btn ghost only-icon" to="/new" aria-label="New run">
            <Icon name="plus" />
          </Link>
        </div>
        <Outlet />
      </main>
      {!/^\/(runs|sessions)\//.test(path) && <TabBar onMore={open} isInert={isOpen} />}
      <Shortcuts shown={dialog} onShow={setDialog} />
      <Toasts>
        <TroubleToast />
      </Toasts>
    </div>
  );
}

/** On small screens the rail is a drawer. While it is open it has the focus, and Escape or another page closes it. */
function useDrawer(path: string) {
  const [isOpen, setOpen] = useState(false);
  const drawer = useRef<HTMLElement>(null);
  const opener = useRef<Element>(null);
  const close = useCallback(() => setOpen(false), []);
  const open = useCallback(() => {
    opener.current = document.activeElement;
    setOpen(true);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: Another path closes the drawer.
  useEffect(close, [path]);
  useEffect(() => {
    if (!isOpen) {
      return;
    }
    drawer.current?.querySelector<HTMLElement>(".rail-close")?.focus();
    const onKey = ({ key }: KeyboardEvent) => key === "Escape" && close();
    window.addEventListener("keydown", onKey);
    return () => {
      window.removeEventListener("keydown", onKey);
      if (opener.current instanceof HTMLElement) {
        opener.current.focus();
      }
    };
  }, [isOpen, close]);
  return { isOpen, open, close, drawer };
}

/** The title of the run in sight, whose head scrolls away on a phone. On other pages the name of the service. */
function BarTitle({ runId = "" }: { readonly runId: string | undefined }) {
  // The page of the run reads it.
  const { data: run } = useQuery({ ...runQuery(runId), enabled: false });
  return run === undefined ? (
    <Link className="brand grow" to="/">
      <Mark /> Errand
    </Link>
  ) : (
    <>
      <Link className="btn ghost only-icon" to="/" aria-label="All runs">
        <Icon name="arrowLeft" />
      </Link>
      <span className="bar-run grow" aria-hidden="true">
        <b className="one" dir="auto">
          {withHiddenShown(run.title)}
        </b>
        <span className={`state ${STATES[run.state].tone}`}>
          <Icon name={STATES[run.state].icon} />
        </span>
      </span>
    </>
  );
}

const VIEW_ICONS: Readonly<Record<RunsView, IconName>> = {
  mine: "person",
  needs: "needs",
  running: "play",
  all: "all",
};

function Rail({
  runId,
  onClose,
  onCommands,
}: {
  readonly runId: string | undefined;
  readonly onClose: () => void;
  readonly onCommands: () => void;
}) {
  const counts = useViewCounts();
  const { data: whoami } = useQuery(whoamiQuery);
  const name = whoami?.principal.display_name ?? whoami?.principal.email ?? "Your account";
  return (
    <>
      <div className="rail-top">
        <Link className="brand grow" to="/">
          <Mark /> Errand
        </Link>
        <IconButton icon="search" name="Commands" keyName="Ctrl K" onClick={onCommands} />
        <IconButton icon="close" name="Close the menu" className="ghost rail-close" onClick={onClose} />
      </div>
      <Link className="btn primary block" to="/new">
        <Icon name="plus" /> New run <kbd className="desk-only">C</kbd>
      </Link>
      <nav aria-label="Runs">
        <ul>
          {VIEWS.map(({ id, name: view }) => (
            <li key={id}>
              <ViewLink className="rail-link" view={id}>
                <Icon name={VIEW_ICONS[id]} />
                <span className="one">{view}</span>
                <Count value={counts[id]} tone={id === "needs" ? "needs" : ""} />
              </ViewLink>
            </li>
          ))}
        </ul>
      </nav>
      {runId === undefined ? (
        <AllPlaces />
      ) : (
        <>
          <RecentRuns runId={runId} />
          <details>
            <summary className="rail-link">
              <span className="grow">Configure and operate</span> <DeadNotices />
              <Icon name="chevronDown" />
            </summary>
            <AllPlaces />
          </details>
        </>
      )}
      <div className="rail-foot">
        <Link className="rail-link" to="/account" activeProps={{ "aria-current": "page" }}>
          <Avatar name={name} />
          <span className="one">{name}</span>
        </Link>
      </div>
    </>
  );
}

function AllPlaces() {
  return (
    <>
      <Places title="Configure" places={CONFIGURE} />
      <Places title="Operate" places={OPERATE} badges={{ "/integrations": <DeadNotices /> }} />
    </>
  );
}

function Places({
  title,
  places,
  badges = {},
}: {
  readonly title: string;
  readonly places: readonly Place[];
  readonly badges?: Readonly<Record<string, ReactNode>>;
}) {
  const has = useRights();
  return (
    <nav aria-label={title}>
      <h2>{title}</h2>
      <ul>
        {places
          .filter((place) => isOffered(place, has))
          .map(({ path, name, icon }) => (
            <li key={path}>
              <Link className="rail-link" to={path} activeProps={{ "aria-current": "page" }}>
                <Icon name={icon} />
                <span className="one">{name}</span>
                {badges[path]}
              </Link>
            </li>
          ))}
      </ul>
    </nav>
  );
}

function Count({ value, tone = "" }: { readonly value: string | undefined; readonly tone?: string }) {
  return value === undefined || value === "0" ? null : <span className={`count ${tone}`}>{value}</span>;
}

/** Messages that nobody received are counted until a person deals with them. */
function DeadNotices() {
  const enabled = useMay("admin") === true;
  const { data } = useQuery({ ...deadNoticesQuery, enabled });
  const dead = data?.notices.length ?? 0;
  return dead === 0 ? null : (
    <span className="count fail">
      {dead}
      <span className="sr"> messages could not be delivered</span>
    </span>
  );
}

/** The places of a phone. The page of a run has a composer there instead. */
function TabBar({ onMore, isInert }: { readonly onMore: () => void; readonly isInert: boolean }) {
  const counts = useViewCounts();
  return (
    <nav className="tab-bar" aria-label="Main" inert={isInert}>
      <ViewLink view="all">
        <Icon name="all" />
        Runs
      </ViewLink>
      <ViewLink view="needs">
        <Icon name="needs" />
        Needs you
        <Count value={counts.needs} tone="needs" />
      </ViewLink>
      <Link to="/new">
        <Icon name="plus" />
        New run
      </Link>
      <button type="button" onClick={onMore}>
        <Icon name="menu" />
        More
        <DeadNotices />
      </button>
    </nav>
  );
}
