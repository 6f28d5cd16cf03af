import "./tabs.css";
import type { RepositoryChanges } from "@errand/client";
import { useQuery } from "@tanstack/react-query";
import { type ComponentProps, memo, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { copy } from "../parts/copy.ts";
import { bytes, count, plural } from "../parts/format.ts";
import { Icon } from "../parts/icon.tsx";
import { Loading, Problem } from "../parts/problem.tsx";
import { useKeyInAddress, useReleased } from "./address.ts";
import { useChangesKeys, useSplit, useViewed } from "./changes-view.ts";
import { OutdatedComment } from "./comments/comment-card.tsx";
import { CommentedDiff } from "./comments/commented-diff.tsx";
import { SendBar } from "./comments/send-bar.tsx";
import { NO_COMMENTS, type ShownComment, useCommentsOf } from "./comments/use-comments.ts";
import { Counts } from "./diff-view.tsx";
import { numberOf, safeUrl } from "./names.ts";
import { PathName } from "./path-name.tsx";
import { sumOf } from "./run-aside.tsx";
import { type BinarySizes, binarySizes } from "./text/binary-patch.ts";
import { countsOf, type FileDiff, parsePatch } from "./text/diff.ts";

/** Files that people do not write: they start folded. */
const GENERATED =
  /(?:^|\/)(?:package-lock\.json|pnpm-lock\.yaml|yarn\.lock|[^/]*\.lock|go\.sum|[^/]*\.min\.\w+|[^/]*\.snap)$/;
/** A longer patch starts with all files folded, so that the page stays quick. */
const OPEN_LINES_MAX = 3_000;

export function ChangesTab({
  changes,
  runId,
}: {
  readonly changes: readonly RepositoryChanges[] | undefined;
  readonly runId: string;
}) {
  const { choose, isSplit, isWide } = useSplit();
  useChangesKeys(useCallback(() => choose(!isSplit), [choose, isSplit]));
  if (changes === undefined) {
    return <Loading what="the changes" />;
  }
  if (changes.length === 0) {
    return <p className="tab-empty">No turn of this run has changed a repository so far.</p>;
  }
  return (
    <>
      {changes.map((each, index) => (
        <Repository
          key={each.repository}
          changes={each}
          runId={runId}
          isOnly={changes.length === 1}
          isSplit={isSplit}
          onLayout={isWide && index === 0 ? choose : undefined}
        />
      ))}
      <SendBar />
    </>
  );
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
  changes,
  runId,
  isOnly,
  isSplit,
  onLayout,
}: {
  readonly changes: RepositoryChanges;
  readonly runId: string;
  readonly isOnly: boolean;
  readonly isSplit: boolean;
  /** Only the first repository has the buttons, because the layout applies to all. */
  readonly onLayout: ((isSplit: boolean) => void) | undefined;
}) {
  const { base, head, repository, truncated } = changes;
  // The address is new at each read; what it shows changes only with the commit or the files.
  const version = `${head} ${changes.files.map(({ additions, deletions, path }) => `${path}${additions}${deletions}`)}`;
  const [shownVersion, setShownVersion] = useState(version);
  const patch = useQuery({
    queryKey: ["patch", repository, base, shownVersion],
    queryFn: ({ signal }) => readPatch(changes.diff_url, signal),
    staleTime: Infinity,
  });
  const files = useMemo(() => parsePatch(patch.data ?? ""), [patch.data]);
  const { view, viewed } = useViewed(runId, repository, files);
  useLinkedFile(files);
  const comments = useCommentsOf(repository);
  const commit = useMemo(() => ({ left: base, right: head ?? undefined }), [base, head]);
  const [filter, setFilter] = useState("");
  const url = safeUrl(changes.pull_request);
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
          <b>{plural(files.length, "file")}</b> <Counts {...sumOf([changes])} />
          <span className="muted mono xs">
            {base.slice(0, 7)}
            {head !== null && `…${head.slice(0, 7)}`}
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
        {truncated && <p className="note">The changes are too long: not all of them are shown.</p>}
        {Array.from(comments, ([path, ofFile]) =>
          files.some((file) => file.path === path && file.hunks.length > 0)
            ? null
            : ofFile.map((each) => <OutdatedComment key={each.key} shown={each} />),
        )}
        {files.map((file) => (
          <File
            key={file.path}
            file={file}
            comments={comments.get(file.path) ?? NO_COMMENTS}
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

function anchorOf(repository: string, { path }: FileDiff): string {
  return `file-${repository}/${path}`;
}

const STATUS: Readonly<Record<FileDiff["status"], string>> = {
  added: "new",
  deleted: "deleted",
  modified: "",
  renamed: "renamed",
};

/** The changed lines of a file, or how large a binary file is now. */
function Size({ file }: { readonly file: FileDiff }) {
  const sizes = useBinarySizes(file);
  if (!file.isBinary) {
    return <Counts {...countsOf(file.hunks)} />;
  }
  return <span className="counts muted">{sizes === undefined ? "binary" : bytes(sizes.after)}</span>;
}

function useBinarySizes(file: FileDiff): BinarySizes | undefined {
  const [sizes, setSizes] = useState<BinarySizes>();
  useEffect(() => {
    let isCurrent = true;
    void binarySizes(file.binary).then((found) => isCurrent && setSizes(found));
    return () => {
      isCurrent = false;
    };
  }, [file]);
  return sizes;
}

function BinaryNote({ file }: { readonly file: FileDiff }) {
  const sizes = useBinarySizes(file);
  if (sizes === undefined) {
    return "A binary file.";
  }
  const { after, before } = sizes;
  const texts = {
    added: `A binary file of ${bytes(after)}.`,
    deleted: `A binary file of ${bytes(before)} was deleted.`,
    modified: `A binary file of ${bytes(after)}. It was ${bytes(before)} before.`,
    renamed: `A binary file of ${bytes(after)}. It was ${bytes(before)} before.`,
  };
  return texts[file.status];
}

const File = memo(function File({
  file,
  comments,
  commit,
  isViewed,
  onView,
  repository,
  isSplit,
  isOpenFirst,
}: {
  readonly file: FileDiff;
  readonly comments: readonly ShownComment[];
  readonly commit: ComponentProps<typeof CommentedDiff>["commit"];
  readonly isViewed: boolean;
  readonly onView: (file: FileDiff, is: boolean) => void;
  readonly repository: string;
  readonly isSplit: boolean;
  readonly isOpenFirst: boolean;
}) {
  const [isOpen, setOpen] = useState(isOpenFirst && !isViewed);
  const section = useRef<HTMLElement>(null);
  const { hunks, isBinary, oldPath, path, status } = file;
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  return (
    <section
      ref={section}
      className={isViewed ? "changed-file viewed" : "changed-file"}
      id={anchorOf(repository, file)}
      aria-label={path}
      tabIndex={-1}
    >
      <div className="file-head">
        <button
          type="button"
          className="btn ghost only-icon"
          aria-expanded={isOpen}
          aria-label={`${isOpen ? "Fold" : "Open"} ${path}`}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? "chevronDown" : "chevron"} />
        </button>
        <h2 className="mono">
          <PathName path={path} faint={folder.length} />
        </h2>
        {STATUS[status] !== "" && (
          <span className="chip">
            {STATUS[status]}
            {oldPath && (
              <>
                {" from "}
                <PathName path={oldPath} />
              </>
            )}
          </span>
        )}
        <Size file={file} />
        <label className="check end">
          <input
            type="checkbox"
            checked={isViewed}
            onChange={({ target }) => {
              onView(file, target.checked);
              setOpen(!target.checked);
            }}
          />
          Viewed
        </label>
      </div>
      {isOpen &&
        (isBinary || hunks.length === 0 ? (
          <p className="diff-note">
            {isBinary ? <BinaryNote file={file} /> : "Only the name or the mode has changed."}
          </p>
        ) : (
          <CommentedDiff
            file={file}
            comments={comments}
            repository={repository}
            commit={commit}
            isSplit={isSplit}
            section={section}
          />
        ))}
    </section>
  );
});

function lengthOf({ hunks }: FileDiff): number {
  return hunks.reduce((sum, { lines }) => sum + lines.length, 0);
}
