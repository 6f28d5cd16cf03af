import "./tabs.css";
import type { RepositoryChanges, RunItem } from "@errand/client";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type ComponentProps, useCallback, useEffect, useMemo, useState } from "react";
import { copy } from "../parts/copy.ts";
import { count, plural } from "../parts/format.ts";
import { Icon } from "../parts/icon.tsx";
import { Loading, Problem } from "../parts/problem.tsx";
import { useKeyInAddress, useReleased } from "./address.ts";
import { anchorOf, ChangedFile, Size } from "./changed-file.tsx";
import { useChangesKeys, useSplit, useViewed } from "./changes-view.ts";
import { OutdatedComment } from "./comments/comment-card.tsx";
import { SendBar } from "./comments/send-bar.tsx";
import { NO_COMMENTS, useCommentsOf } from "./comments/use-comments.ts";
import { Counts } from "./diff-view.tsx";
import { artifactUrl, numberOf, safeUrl } from "./names.ts";
import { PathName } from "./path-name.tsx";
import { sumOf } from "./run-aside.tsx";
import { useRun } from "./run-context.tsx";
import { countsOf, type FileDiff, parsePatch } from "./text/diff.ts";

/** Files that people do not write: they start folded. */
const GENERATED =
  /(?:^|\/)(?:package-lock\.json|pnpm-lock\.yaml|yarn\.lock|[^/]*\.lock|go\.sum|[^/]*\.min\.\w+|[^/]*\.snap)$/;
/** A longer patch starts with all files folded, so that the page stays quick. */
const OPEN_LINES_MAX = 3_000;

/** A patch to read, and what is known of it. */
interface Shown {
  readonly repository: string;
  readonly url: string;
  /** The address is new at each read; what it shows changes only with this. */
  readonly version: string;
  readonly turn?: number;
  readonly base?: string;
  readonly head?: string | null;
  readonly pullRequest?: string | undefined;
  readonly isTruncated?: boolean;
  /** Also of what is cut off. */
  readonly sum?: ComponentProps<typeof Counts>;
}

export function ChangesTab({
  changes,
  run,
  turns,
}: {
  readonly changes: readonly RepositoryChanges[] | undefined;
  readonly run: RunItem;
  /** The number of the newest turn. */
  readonly turns: number;
}) {
  const { choose, isSplit, isWide } = useSplit();
  useChangesKeys(useCallback(() => choose(!isSplit), [choose, isSplit]));
  const [turn, setTurn] = useTurn(turns);
  if (changes === undefined) {
    return <Loading what="the changes" />;
  }
  const shown = turn === undefined ? changes.map(ofRun) : ofTurn(run, changes, turn);
  return (
    <>
      {turns > 1 && <TurnChoice turn={turn} turns={turns} onChange={setTurn} />}
      {shown.length === 0 && (
        <p className="tab-empty">
          {turn === undefined
            ? "No turn of this run has changed a repository so far."
            : `Turn ${turn} has not ended or has changed no repository, or its changes could not be stored.`}
        </p>
      )}
      {shown.map((each, index) => (
        <Repository
          key={`${each.turn} ${each.repository}`}
          shown={each}
          runId={run.run_id}
          isOnly={shown.length === 1}
          isSplit={isSplit}
          onLayout={isWide && index === 0 ? choose : undefined}
        />
      ))}
      <SendBar />
    </>
  );
}

/** The turn is part of the address, so that a link shows the same changes. Undefined: all turns. */
function useTurn(turns: number): readonly [number | undefined, (turn: number | undefined) => void] {
  const { turn } = useSearch({ strict: false }) as { readonly turn?: unknown };
  const navigate = useNavigate();
  const choose = (chosen: number | undefined) => {
    const search = (before: object) => ({ ...before, turn: chosen });
    void navigate({ to: ".", search: search as never, replace: true });
  };
  const isTurn = typeof turn === "number" && Number.isInteger(turn) && turn >= 1 && turn <= turns;
  return [isTurn ? turn : undefined, choose];
}

function TurnChoice({
  turn,
  turns,
  onChange,
}: {
  readonly turn: number | undefined;
  readonly turns: number;
  readonly onChange: (turn: number | undefined) => void;
}) {
  return (
    <label className="turn-choice row">
      <span className="sm muted">Changes of</span>
      <select
        className="select"
        value={turn ?? ""}
        onChange={({ target }) => onChange(target.value === "" ? undefined : Number(target.value))}
      >
        <option value="">all turns</option>
        {Array.from({ length: turns }, (_, index) => turns - index).map((each) => (
          <option key={each} value={each}>
            turn {each}
          </option>
        ))}
      </select>
    </label>
  );
}

function ofRun(changes: RepositoryChanges): Shown {
  const { base, files, head, repository } = changes;
  const sizes = files.map(({ additions, deletions, path }) => `${path}${additions}${deletions}`);
  return {
    repository,
    url: changes.diff_url,
    version: `${head} ${sizes}`,
    base,
    head,
    pullRequest: changes.pull_request,
    isTruncated: changes.truncated === true,
    sum: sumOf([changes]),
  };
}

/** What the turn changed compared with the turn before. The worker leaves it among the files of the run. */
function ofTurn(run: RunItem, changes: readonly RepositoryChanges[], turn: number): readonly Shown[] {
  return (run.artifacts ?? []).flatMap((artifact) => {
    const path = artifact.artifact_type === "FILE" ? artifact.data.filepath.split("/") : [];
    const [root, folder = "", name] = path;
    if (artifact.artifact_type !== "FILE" || root !== "changes" || name !== `turn-${turn}.diff`) {
      return [];
    }
    const { artifact_uid: uid } = artifact.data;
    return { repository: nameOf(folder, changes), url: artifactUrl(run.run_id, uid), version: uid, turn };
  });
}

/** The folder has the name of the repository, with its owner if two repositories have the same name. */
function nameOf(folder: string, changes: readonly RepositoryChanges[]): string {
  const names = changes.map(({ repository }) => repository);
  return names.find((each) => each.endsWith(`/${folder}`) || each.replace("/", "-") === folder) ?? folder;
}

/**
 * Shows the file that the address names, and stays there until the reader scrolls. The browser looks for it before the patch
 * is read, and restores the position of an earlier visit later.
 */
function useLinkedFile(files: readonly FileDiff[]): void {
  const key = useKeyInAddress();
  const released = useReleased(key);
  useEffect(() => {
    if (key === "" || files.length === 0) {
      return;
    }
    const show = () => {
      if (released.current !== key) {
        document.getElementById(key)?.scrollIntoView();
      }
    };
    show();
    window.addEventListener("scroll", show, { passive: true });
    const observer = new ResizeObserver(show);
    observer.observe(document.body);
    return () => {
      window.removeEventListener("scroll", show);
      observer.disconnect();
    };
  }, [files, key, released]);
}

function Repository({
  shown,
  runId,
  isOnly,
  isSplit,
  onLayout,
}: {
  readonly shown: Shown;
  readonly runId: string;
  readonly isOnly: boolean;
  readonly isSplit: boolean;
  /** Only the first repository has the buttons, because the layout applies to all. */
  readonly onLayout: ((isSplit: boolean) => void) | undefined;
}) {
  const { base, head, isTruncated = false, pullRequest, repository, turn, version } = shown;
  const [shownVersion, setShownVersion] = useState(version);
  const patch = useQuery({
    queryKey: ["patch", runId, turn ?? "all", repository, base, shownVersion],
    queryFn: ({ signal }) => readPatch(shown.url, signal),
    staleTime: Infinity,
  });
  const files = useMemo(() => parsePatch(patch.data ?? ""), [patch.data]);
  const { view, viewed } = useViewed(turn === undefined ? runId : `${runId} turn ${turn}`, repository, files);
  useLinkedFile(files);
  const comments = useCommentsOf(repository);
  const commit = useMemo(() => ({ left: base, right: head ?? undefined }), [base, head]);
  const sum = useMemo(() => shown.sum ?? countsOf(files.flatMap(({ hunks }) => hunks)), [files, shown]);
  const { isGuest } = useRun();
  const [filter, setFilter] = useState("");
  const url = safeUrl(pullRequest);
  const isLong = files.reduce((sum, file) => sum + lengthOf(file), 0) > OPEN_LINES_MAX;
  if (patch.isPending) {
    return <Loading what="the changes" />;
  }
  if (patch.error) {
    return <Problem error={patch.error} onRetry={() => void patch.refetch()} />;
  }
  return (
    <div className="changes">
      <nav className="changed-files" aria-label={`Changed files of ${repository}`}>
        <input
          className="input"
          type="search"
          aria-label="Filter files"
          placeholder="Filter files"
          value={filter}
          onChange={({ target }) => setFilter(target.value)}
        />
        <FileList
          repository={repository}
          files={files.filter(({ path }) => path.toLowerCase().includes(filter.toLowerCase()))}
        />
      </nav>
      <div className="changes-body">
        {shownVersion !== version && (
          <p className="note">
            <span className="grow">The files have changed since you opened this.</span>
            <button type="button" className="btn" onClick={() => setShownVersion(version)}>
              Show the new version
            </button>
          </p>
        )}
        <div className="changes-bar">
          {!isOnly && <b>{repository}</b>}
          <b>{plural(files.length, "file")}</b> <Counts {...sum} />
          <span className="muted mono xs">
            {base?.slice(0, 7)}
            {head && `…${head.slice(0, 7)}`}
          </span>
          {files.length > 1 && (
            <span className="muted xs">
              {count(viewed.size)} of {count(files.length)} viewed
            </span>
          )}
          <span className="end row wrap">
            {onLayout && <LayoutChoice isSplit={isSplit} onChange={onLayout} />}
            <button type="button" className="btn" onClick={() => copy(patch.data, "Patch")}>
              <Icon name="copy" /> Copy patch
            </button>
            {url !== undefined && (
              <a className="btn" href={url} target="_blank" rel="noopener noreferrer">
                <Icon name="pullRequest" /> {numberOf(url) ?? "Pull request"}
              </a>
            )}
          </span>
        </div>
        {isTruncated && <p className="note">The changes are too long: not all of them are shown.</p>}
        {turn !== undefined && !isGuest && (
          <p className="hint">Comments can be written on the changes of all turns.</p>
        )}
        {Array.from(turn === undefined ? comments : [], ([path, ofFile]) =>
          files.some((file) => file.path === path && file.hunks.length > 0)
            ? null
            : ofFile.map((each) => <OutdatedComment key={each.key} shown={each} />),
        )}
        {files.map((file) => (
          <ChangedFile
            key={file.path}
            file={file}
            comments={turn === undefined ? (comments.get(file.path) ?? NO_COMMENTS) : undefined}
            commit={commit}
            isViewed={viewed.has(file)}
            onView={view}
            repository={repository}
            isSplit={isSplit}
            isOpenFirst={!isLong && !GENERATED.test(file.path)}
          />
        ))}
      </div>
    </div>
  );
}

function LayoutChoice({
  isSplit,
  onChange,
}: {
  readonly isSplit: boolean;
  readonly onChange: (isSplit: boolean) => void;
}) {
  return (
    <fieldset className="segments">
      <legend className="sr">Layout</legend>
      <button type="button" aria-pressed={!isSplit} onClick={() => onChange(false)}>
        Unified
      </button>
      <button type="button" aria-pressed={isSplit} onClick={() => onChange(true)}>
        Split
      </button>
    </fieldset>
  );
}

/** The address of the patch is absolute. It is read from the address of this page, which the policy allows. */
async function readPatch(address: string, signal: AbortSignal): Promise<string> {
  const { pathname, search } = new URL(address, window.location.href);
  const response = await fetch(pathname + search, { signal });
  if (response.status === 404) {
    throw new Error("These changes are no longer stored.");
  }
  if (!response.ok) {
    throw new Error(`The patch could not be read: the server answered with ${response.status}.`);
  }
  return response.text();
}

function FileList({
  files,
  repository,
}: {
  readonly files: readonly FileDiff[];
  readonly repository: string;
}) {
  const folders = Map.groupBy(files, ({ path }) => path.slice(0, Math.max(0, path.lastIndexOf("/"))));
  return (
    <ul>
      {Array.from(folders, ([folder, inside]) => (
        <li key={folder}>
          {folder !== "" && (
            <p className="mono xs faint">
              <PathName path={folder} />
            </p>
          )}
          {inside.map((file) => (
            <a key={file.path} href={`#${anchorOf(repository, file)}`}>
              <Icon name="file" />
              <PathName path={file.path.slice(folder === "" ? 0 : folder.length + 1)} />
              <span className="end">
                <Size file={file} />
              </span>
            </a>
          ))}
        </li>
      ))}
    </ul>
  );
}

function lengthOf({ hunks }: FileDiff): number {
  return hunks.reduce((sum, { lines }) => sum + lines.length, 0);
}
