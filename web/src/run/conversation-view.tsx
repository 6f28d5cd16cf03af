import "./conversation.css";
import "./steps.css";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { memo, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { plural } from "../parts/format.ts";
import { Icon } from "../parts/icon.tsx";
import { useKeyInAddress, useReleased } from "./address.ts";
import { isOpenQuestion, type Row } from "./conversation/blocks.ts";
import type { Entry } from "./conversation/entries.ts";
import { HeldFollowUp } from "./person-messages.tsx";
import { RowView } from "./row-view.tsx";
import { useRun } from "./run-context.tsx";
import type { RunLogView } from "./run-log.ts";
import { useConversationKeys } from "./use-conversation-keys.ts";
import { useEnd } from "./use-end.ts";

/** Above so many rows from the first one, earlier entries are loaded. */
const NEAR_START_ROWS = 10;
const OVERSCAN = 10;

/** What stays at the top of the page while it scrolls hides so much, with the search and without. */
const HEAD_PX = 150;
const HEAD_WITH_SEARCH_PX = 260;

type GoTo = (index: number, align?: "start" | "center") => void;

const HEIGHTS: Readonly<Record<Row["kind"], number>> = { entry: 96, system: 34, day: 34, step: 37, fold: 37 };

/** The entries of a run. Only those near the screen are in the document. */
export function ConversationView({
  view,
  isSearched,
  onCopy,
}: {
  readonly view: RunLogView;
  /** The search is open. */
  readonly isSearched: boolean;
  readonly onCopy: (entry: Entry) => void;
}) {
  const { log } = useRun();
  const { rows, held, hasEarlier } = view;
  // The line keeps its place, so that nothing moves when the last page is there.
  const [hadEarlier] = useState(hasEarlier);
  const list = useRef<HTMLDivElement>(null);
  const [margin, setMargin] = useState(0);
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: (index) => HEIGHTS[rows[index]?.kind ?? "entry"],
    getItemKey: useCallback((index: number) => rows[index]?.key ?? index, [rows]),
    overscan: OVERSCAN,
    scrollMargin: margin,
    scrollPaddingStart: isSearched ? HEAD_WITH_SEARCH_PX : HEAD_PX,
    // Earlier entries that are put before the others do not move what is read.
    anchorTo: "end",
    useAnimationFrameWithResizeObserver: true,
  });
  const items = virtualizer.getVirtualItems();
  useLayoutEffect(() => {
    const measure = () => setMargin((list.current?.getBoundingClientRect().top ?? 0) + window.scrollY);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, []);
  const goTo = useCallback<GoTo>(
    (index, align = "center") => {
      virtualizer.scrollToIndex(index, { align });
      const key = rows[index]?.key;
      // The row may be in the document only after the scroll.
      requestAnimationFrame(() => requestAnimationFrame(() => key !== undefined && focusRow(key)));
    },
    [rows, virtualizer],
  );
  const { isAtEnd, leaveEnd, newRows, toEnd } = useEnd(view, list);
  const linked = useLinkedEntry(view, { goTo, leaveEnd, toEnd });
  useConversationKeys({ rows, goTo, onCopy });
  const first = items[0]?.index ?? 0;
  useEffect(() => {
    if (hasEarlier && first < NEAR_START_ROWS && view.isLoaded) {
      void log.loadEarlier();
    }
  }, [hasEarlier, first, log, view.isLoaded]);
  const hasQuestion = useMemo(() => rows.some(isOpenQuestion), [rows]);
  return (
    <>
      {hadEarlier && (
        <p className={`system-line earlier ${hasEarlier ? "" : "gone"}`}>
          <Icon name="all" /> Loading earlier entries…
        </p>
      )}
      <div
        ref={list}
        className="entries"
        style={{ height: virtualizer.getTotalSize() }}
        aria-busy={!view.isLoaded}
      >
        {items.map((item) => {
          const row = rows[item.index];
          return (
            row && (
              <RowView
                key={item.key}
                item={item}
                margin={margin}
                measure={virtualizer.measureElement}
                row={row}
                isLinked={row.key === linked}
              />
            )
          );
        })}
      </div>
      {held.map((entry) => (
        <HeldFollowUp key={entry.key} entry={entry} />
      ))}
      <Announcements view={view} />
      {!isAtEnd && (
        <button type="button" className="btn jump" onClick={toEnd}>
          {hasQuestion
            ? "1 question"
            : newRows > 0
              ? plural(newRows, "new entry", "new entries")
              : "To the end"}
          <Icon name="chevronDown" />
        </button>
      )}
    </>
  );
}

/**
 * Shows the entry that the address names, and stays there until the reader scrolls. Earlier entries that are loaded
 * meanwhile change its place. Returns the key of its row.
 */
function useLinkedEntry(
  view: RunLogView,
  { goTo, leaveEnd, toEnd }: { goTo: GoTo; leaveEnd: () => void; toEnd: () => void },
): string | undefined {
  const { log } = useRun();
  const key = useKeyInAddress();
  const place = useMemo(() => (key === "" ? -1 : rowOf(view.rows, key)), [view.rows, key]);
  const row = view.rows[place];
  const released = useReleased(key);
  const { hasEarlier, isLoaded } = view;
  const isHidden = row?.kind === "fold" && row.key !== key && !row.isOpen;
  // biome-ignore lint/correctness/useExhaustiveDependencies: Only a new place is a reason to scroll.
  useEffect(() => {
    if (key === "" || key === released.current || !isLoaded) {
      return;
    }
    leaveEnd();
    if (row !== undefined && isHidden) {
      log.toggleFold(row.key);
    } else if (row !== undefined) {
      goTo(place, "start");
    } else if (hasEarlier) {
      void log.loadUntil(key);
    } else {
      toEnd();
    }
  }, [key, place, isHidden, isLoaded, hasEarlier]);
  return row?.key;
}

/** The place of the row that shows the entry, or else of the row that contains it. */
function rowOf(rows: readonly Row[], key: string): number {
  const own = rows.findIndex((row) => row.key === key);
  return own === -1
    ? rows.findIndex((row) => "entries" in row && row.entries.some((entry) => entry.key === key))
    : own;
}

/** The search keeps the focus, so that Enter leads to the next match. */
function focusRow(key: string): void {
  if (document.activeElement?.closest("search") != null) {
    return;
  }
  document.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}

/** Tells screen readers of each new message once, and of a question at once. */
const Announcements = memo(function Announcements({ view }: { readonly view: RunLogView }) {
  const { agent } = useRun();
  const last = view.rows.at(-1);
  const question = view.rows.findLast(isOpenQuestion);
  const isMessage = last?.kind === "entry" && last.entry.kind === "message";
  return (
    <div className="sr">
      <p aria-live="polite">{isMessage ? `New message from ${agent}` : ""}</p>
      <p aria-live="assertive">
        {question?.kind === "entry" && question.entry.kind === "question"
          ? `Question: ${question.entry.title ?? ""}`
          : ""}
      </p>
    </div>
  );
});
