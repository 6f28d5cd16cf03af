import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { keyInAddress } from "./address.ts";
import type { Row } from "./conversation/blocks.ts";
import type { RunLogView } from "./run-log.ts";

/** So near to the end, the page follows new entries. */
const NEAR_END_PX = 80;

/**
 * Follows the end of the page while the reader is there, and counts what comes while the reader is elsewhere. The page
 * opens at its end, unless its address names an entry.
 */
export function useEnd(view: RunLogView, list: RefObject<HTMLDivElement | null>) {
  const [isAtEnd, setAtEnd] = useState(() => keyInAddress() === "");
  const follows = useRef(isAtEnd);
  const seenRows = useRef(0);
  const lastTop = useRef(0);
  const leaveEnd = useCallback(() => {
    follows.current = false;
  }, []);
  const toEnd = useCallback(() => {
    follows.current = true;
    setAtEnd(true);
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
  if (isAtEnd || seenRows.current === 0) {
    seenRows.current = lastSeq;
  }
  let newRows = 0;
  while (!isAtEnd && firstSeqOf(view.rows.at(-1 - newRows)) > seenRows.current) {
    newRows += 1;
  }
  return { isAtEnd, leaveEnd, newRows, toEnd };
}

function distanceToEnd(): number {
  return document.documentElement.scrollHeight - window.innerHeight - window.scrollY;
}

export function firstSeqOf(row: Row | undefined): number {
  if (row === undefined || row.kind === "day") {
    return 0;
  }
  return ("entry" in row ? row.entry : row.entries[0])?.seq ?? 0;
}
