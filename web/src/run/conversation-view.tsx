import "./conversation.css";
import "./steps.css";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { memo, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { plural } from "../parts/format.ts";
import { Icon } from "../parts/icon.tsx";
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

const HEIGHTS: Readonly<Record<Row["kind"], number>> = { entry: 96, system: 34, day: 34, step: 37, fold: 37 };

/** The entries of a run. Only those near the screen are in the document. */
export function ConversationView({
  view,
  onCopy,
}: {
  readonly view: RunLogView;
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
  const goTo = useCallback(
    (index: number, align: "start" | "center" = "center") => {
      virtualizer.scrollToIndex(index, { align });
      const key = rows[index]?.key;
      // The row may be in the document only after the scroll.
      requestAnimationFrame(() => requestAnimationFrame(() => key !== undefined && focusRow(key)));
    },
    [rows, virtualizer],
  );
  const { isAtEnd, newRows, toEnd } = useEnd(view, list);
  useLinkedEntry(view, goTo);
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

/** Shows the entry that the address names. */
function useLinkedEntry(view: RunLogView, goTo: (index: number) => void): void {
  const { log } = useRun();
  const [wanted, setWanted] = useState(keyInAddress);
  useEffect(() => {
    const onHash = () => setWanted(keyInAddress());
    window.addEventListener("hashchange", onHash);
    return () => window.removeEventListener("hashchange", onHash);
  }, []);
  useEffect(() => {
    if (wanted === "" || !view.isLoaded) {
      return;
    }
    const index = view.rows.findIndex((row) => keysOf(row).includes(wanted));
    if (index !== -1) {
      setWanted("");
      goTo(index);
    } else if (view.hasEarlier) {
      void log.loadUntil(wanted);
    }
  }, [wanted, view, goTo, log]);
}

function keyInAddress(): string {
  const written = window.location.hash.slice(1);
  try {
    return decodeURIComponent(written);
  } catch {
    // A percent sign that encodes nothing.
    return written;
  }
}

function keysOf(row: Row): readonly string[] {
  if (row.kind === "fold" || row.kind === "system") {
    return [row.key, ...row.entries.map(({ key }) => key)];
  }
  return [row.key];
}

function focusRow(key: string): void {
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
