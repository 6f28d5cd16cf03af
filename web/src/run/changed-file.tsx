import { type ComponentProps, memo, useEffect, useRef, useState } from "react";
import { bytes } from "../parts/format.ts";
import { IconButton } from "../parts/icon-button.tsx";
import { CommentedDiff } from "./comments/commented-diff.tsx";
import type { ShownComment } from "./comments/use-comments.ts";
import { Counts, DiffView } from "./diff-view.tsx";
import { PathName } from "./path-name.tsx";
import { type BinarySizes, binarySizes } from "./text/binary-patch.ts";
import { countsOf, type FileDiff } from "./text/diff.ts";

export function anchorOf(repository: string, { path }: FileDiff): string {
  return `file-${repository}/${path}`;
}

const STATUS: Readonly<Record<FileDiff["status"], string>> = {
  added: "new",
  deleted: "deleted",
  modified: "",
  renamed: "renamed",
};

/** A file of a patch. Without `comments` none can be written. */
export const ChangedFile = memo(function ChangedFile({
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
  readonly comments: readonly ShownComment[] | undefined;
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
        <IconButton
          icon={isOpen ? "chevronDown" : "chevron"}
          name={`${isOpen ? "Fold" : "Open"} ${path}`}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        />
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
        ) : comments === undefined ? (
          <DiffView path={path} hunks={hunks} isSplit={isSplit} />
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

/** The changed lines of a file, or how large a binary file is now. */
export function Size({ file }: { readonly file: FileDiff }) {
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
