import type { LineComment } from "@errand/client";
import { type ReactNode, type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { DiffView } from "../diff-view.tsx";
import { useRun } from "../run-context.tsx";
import type { DiffLine, FileDiff } from "../text/diff.ts";
import { CommentCard, CommentField, OutdatedComment } from "./comment-card.tsx";
import { type LineRange, linesIn, numberOn, placeOf, quoted } from "./placement.ts";
import type { ShownComment } from "./use-comments.ts";
import { focusLine, useLineKeys } from "./use-line-keys.ts";

/** The change of a file with the comments on it. */
export function CommentedDiff({
  file,
  comments,
  repository,
  commit,
  isSplit,
  section,
}: {
  readonly file: FileDiff;
  readonly comments: readonly ShownComment[];
  readonly repository: string;
  /** The commits of both versions, as far as they are pushed. */
  readonly commit: Readonly<Record<LineRange["side"], string | undefined>>;
  readonly isSplit: boolean;
  readonly section: RefObject<HTMLElement | null>;
}) {
  const { isGuest } = useRun();
  const { hunks, path } = file;
  const [selected, setSelected] = useState<LineRange>();
  // Each field stays until its own comment is kept, also if another one is opened meanwhile.
  const [written, setWritten] = useState<readonly LineRange[]>([]);
  const closed = useRef<LineRange>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: A field is gone when the list of fields has changed.
  useEffect(() => {
    focusLine(section.current, closed.current);
    closed.current = undefined;
  }, [written]);
  const onComment = useCallback((range: LineRange) => {
    setSelected(range);
    setWritten((before) => [...before.filter((each) => !isSame(each, range)), range]);
  }, []);
  useLineKeys(section, !isGuest, { onSelect: setSelected, onComment });
  const [placed, outdated] = useMemo(() => placesOf(comments, file), [comments, file]);
  const beneath = useMemo(() => {
    const cards = new Map<DiffLine, ReactNode>();
    for (const [line, shown] of placed) {
      cards.set(
        line,
        shown.map((each) => <CommentCard key={each.key} shown={each} />),
      );
    }
    for (const range of written) {
      const last = lineAt(file, range);
      const comment = newComment(file, range, { repository, commit: commit[range.side] });
      const done = () => {
        closed.current = range;
        setWritten((before) => before.filter((each) => !isSame(each, range)));
        setSelected(undefined);
      };
      const key = `${range.side} ${range.from} ${range.to}`;
      if (last !== undefined) {
        cards.set(last, [cards.get(last), <CommentField key={key} comment={comment} onDone={done} />]);
      }
    }
    return cards;
  }, [commit, file, placed, repository, written]);
  const chosen = useMemo(() => linesIn(hunks, selected), [hunks, selected]);
  return (
    <>
      {outdated.map((each) => (
        <OutdatedComment key={each.key} shown={each} />
      ))}
      <DiffView path={path} hunks={hunks} isSplit={isSplit} beneath={beneath} selected={chosen} />
    </>
  );
}

function placesOf(
  comments: readonly ShownComment[],
  { hunks }: FileDiff,
): readonly [ReadonlyMap<DiffLine, readonly ShownComment[]>, readonly ShownComment[]] {
  const placed = new Map<DiffLine, ShownComment[]>();
  const outdated: ShownComment[] = [];
  for (const shown of comments) {
    const line = placeOf(shown.comment, hunks);
    if (line === undefined) {
      outdated.push(shown);
    } else {
      placed.set(line, [...(placed.get(line) ?? []), shown]);
    }
  }
  return [placed, outdated];
}

function lineAt({ hunks }: FileDiff, { side, to }: LineRange): DiffLine | undefined {
  return hunks.flatMap(({ lines }) => lines).find((line) => numberOn(side, line) === to);
}

function isSame(one: LineRange, other: LineRange): boolean {
  return one.side === other.side && one.from === other.from && one.to === other.to;
}

function newComment(
  { hunks, path }: FileDiff,
  range: LineRange,
  { commit, repository }: { readonly commit: string | undefined; readonly repository: string },
): LineComment {
  const { from, side, to } = range;
  const comment = { repository, path, side, line: to, hunk: quoted(hunks, range), body: "" };
  const ofLines = from === to ? comment : { ...comment, start_line: from };
  return commit === undefined ? ofLines : { ...ofLines, commit_id: commit };
}
