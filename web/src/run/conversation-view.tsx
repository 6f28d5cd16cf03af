import { useWindowVirtualizer, type VirtualItem } from "@tanstack/react-virtual";
import { memo, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { areKeysOff, isTyping } from "../frame/single-keys.ts";
import { plural } from "../parts/format.ts";
import { Icon } from "../parts/icon.tsx";
import type { Row } from "./conversation/blocks.ts";
import type { Entry } from "./conversation/entries.ts";
import { callState, exitCodeOf } from "./conversation/tool-call.ts";
import { EntryView } from "./entry-view.tsx";
import { HeldFollowUp } from "./person-messages.tsx";
import { useRun } from "./run-context.tsx";
import type { RunLogView } from "./run-events.ts";
import { FoldView, StepView } from "./step-view.tsx";
import { SystemView } from "./system-view.tsx";

/** So near to the end, the list follows new entries. */
const NEAR_END_PX = 80;
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
  useKeys({ rows, goTo, onCopy });
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
              <RowBox
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

function RowBox({
  item,
  margin,
  measure,
  row,
}: {
  readonly item: VirtualItem;
  readonly margin: number;
  readonly measure: (element: HTMLElement | null) => void;
  readonly row: Row;
}) {
  return (
    <div
      ref={measure}
      className="entry-row"
      data-index={item.index}
      data-key={row.key}
      tabIndex={-1}
      style={{ transform: `translateY(${item.start - margin}px)` }}
    >
      <RowView row={row} />
    </div>
  );
}

const RowView = memo(
  function RowView({ row }: { readonly row: Row }) {
    switch (row.kind) {
      case "entry":
        return (
          <div className="entry">
            <EntryView entry={row.entry} isNewSpeaker={row.isNewSpeaker} />
          </div>
        );
      case "system":
        return (
          <div className="entry tight">
            <SystemView entries={row.entries} id={row.key} />
          </div>
        );
      case "day":
        return (
          <p className="system-line turn day">
            <time dateTime={row.at}>
              {new Date(row.at).toLocaleDateString(undefined, {
                weekday: "long",
                day: "numeric",
                month: "long",
              })}
            </time>
          </p>
        );
      case "step":
        return (
          <div className={edges(row)}>
            <StepView row={row} />
          </div>
        );
      case "fold":
        return (
          <div className={edges(row)}>
            <FoldView row={row} />
          </div>
        );
      default:
        return row satisfies never;
    }
  },
  (before, after) => isSameRow(before.row, after.row),
);

function edges({ isFirst, isLast }: { readonly isFirst: boolean; readonly isLast: boolean }): string {
  return `steps inset ${isFirst ? "first" : ""} ${isLast ? "last" : ""}`;
}

/** Rows are made anew when a neighbour changes, often with the same content. */
function isSameRow(before: Row, after: Row): boolean {
  const [one, other] = [before as unknown as Members, after as unknown as Members];
  return Object.keys(one).every((name) => isSame(one[name], other[name])) && before.kind === after.kind;
}

type Members = Readonly<Record<string, unknown>>;

function isSame(one: unknown, other: unknown): boolean {
  return Array.isArray(one) && Array.isArray(other)
    ? one.length === other.length && one.every((item, index) => item === other[index])
    : one === other;
}

function isOpenQuestion(row: Row): boolean {
  return row.kind === "entry" && row.entry.kind === "question" && row.entry.answer === undefined;
}

function distanceToEnd(): number {
  return document.documentElement.scrollHeight - window.innerHeight - window.scrollY;
}

/** Follows the end of the page while the reader is there, and counts what comes while the reader is elsewhere. */
function useEnd(view: RunLogView, list: React.RefObject<HTMLDivElement | null>) {
  const [isAtEnd, setAtEnd] = useState(true);
  const follows = useRef(true);
  const seenRows = useRef(0);
  const lastTop = useRef(0);
  const toEnd = useCallback(() => {
    follows.current = true;
    window.scrollTo(0, document.documentElement.scrollHeight);
  }, []);
  useEffect(() => {
    const onScroll = () => {
      const isNear = distanceToEnd() <= NEAR_END_PX;
      // The page may grow below without a scroll of the reader; only a scroll upwards leaves the end.
      if (isNear || window.scrollY < lastTop.current) {
        follows.current = isNear;
        setAtEnd(isNear);
      }
      lastTop.current = window.scrollY;
    };
    window.addEventListener("scroll", onScroll, { passive: true });
    return () => window.removeEventListener("scroll", onScroll);
  }, []);
  useEffect(() => {
    const parent = list.current?.parentElement;
    const observer = new ResizeObserver(() => {
      if (follows.current) {
        toEnd();
      }
    });
    if (parent) {
      observer.observe(parent);
    }
    return () => observer.disconnect();
  }, [list, toEnd]);
  const lastSeq = view.eventCount;
  if (isAtEnd) {
    seenRows.current = lastSeq;
  }
  let newRows = 0;
  while (!isAtEnd && firstSeqOf(view.rows.at(-1 - newRows)) > seenRows.current) {
    newRows += 1;
  }
  return { isAtEnd, newRows, toEnd };
}

function firstSeqOf(row: Row | undefined): number {
  return row !== undefined && "entry" in row ? row.entry.seq : 0;
}

/** Shows the entry that the address names. */
function useLinkedEntry(view: RunLogView, goTo: (index: number) => void): void {
  const { log } = useRun();
  const [wanted, setWanted] = useState(() => decodeURIComponent(window.location.hash.slice(1)));
  useEffect(() => {
    const onHash = () => setWanted(decodeURIComponent(window.location.hash.slice(1)));
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

function keysOf(row: Row): readonly string[] {
  if (row.kind === "fold" || row.kind === "system") {
    return [row.key, ...row.entries.map(({ key }) => key)];
  }
  return [row.key];
}

function focusRow(key: string): void {
  document.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}

/** The row with the focus, or else the first one on the screen. */
function currentIndex(): number {
  const focused = document.activeElement?.closest<HTMLElement>("[data-index]");
  if (focused !== null && focused !== undefined) {
    return Number(focused.dataset.index);
  }
  const shown = [...document.querySelectorAll<HTMLElement>(".entries [data-index]")].find(
    (row) => row.getBoundingClientRect().bottom > window.innerHeight / 3,
  );
  return Number(shown?.dataset.index ?? 0);
}

interface KeyDeps {
  readonly rows: readonly Row[];
  readonly goTo: (index: number) => void;
  readonly onCopy: (entry: Entry) => void;
}

const TARGETS: Readonly<Record<string, readonly [step: 1 | -1, fits: (row: Row) => boolean]>> = {
  j: [1, () => true],
  k: [-1, () => true],
  "]": [1, isOfPerson],
  "[": [-1, isOfPerson],
  q: [1, isOpenQuestion],
  f: [1, isFailure],
};

/** The keys of a conversation. `Y` and `N` answer the question that is on the screen. */
function useKeys(deps: KeyDeps): void {
  const current = useRef(deps);
  current.current = deps;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event) || areKeysOff()) {
        return;
      }
      const { goTo, onCopy, rows } = current.current;
      const key = event.key.toLowerCase();
      const target = TARGETS[key];
      if (target !== undefined) {
        const [step, fits] = target;
        const index = find(rows, currentIndex() + step, step, fits);
        if (index !== undefined) {
          event.preventDefault();
          goTo(index);
        }
        return;
      }
      const row = rows[currentIndex()];
      if (key === "y" || key === "n") {
        shownButton(key)?.click();
      } else if (key === "o") {
        rowElement(row)?.querySelector<HTMLElement>("[aria-expanded]")?.click();
      } else if (key === "l" && row !== undefined) {
        window.location.hash = row.key;
        void navigator.clipboard.writeText(window.location.href);
      } else if (key === "m" && row !== undefined && "entry" in row) {
        onCopy(row.entry);
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}

function find(
  rows: readonly Row[],
  from: number,
  step: 1 | -1,
  fits: (row: Row) => boolean,
): number | undefined {
  for (let index = from; index >= 0 && index < rows.length; index += step) {
    const row = rows[index];
    if (row !== undefined && fits(row)) {
      return index;
    }
  }
  // Questions and failures are looked for from the beginning again.
  const first = step === 1 && fits !== TARGETS.j?.[1] ? rows.findIndex(fits) : -1;
  return first === -1 ? undefined : first;
}

function isOfPerson(row: Row): boolean {
  return row.kind === "entry" && (row.entry.kind === "prompt" || row.entry.kind === "followup");
}

function isFailure(row: Row): boolean {
  if (row.kind === "step" && row.entry.kind === "tool") {
    return callState(row.entry) === "failed" || (exitCodeOf(row.entry) ?? 0) !== 0;
  }
  return row.kind === "entry" && row.entry.kind === "problem";
}

function rowElement(row: Row | undefined): HTMLElement | null {
  return row === undefined ? null : document.querySelector(`[data-key="${CSS.escape(row.key)}"]`);
}

function shownButton(key: string): HTMLButtonElement | undefined {
  return [...document.querySelectorAll<HTMLButtonElement>(`[data-question=open] [data-key="${key}"]`)].find(
    (button) => {
      const { bottom, top } = button.getBoundingClientRect();
      return top >= 0 && bottom <= window.innerHeight && !button.disabled;
    },
  );
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
