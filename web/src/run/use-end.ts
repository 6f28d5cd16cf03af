import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import type { Row } from "./conversation/blocks.ts";
import type { RunLogView } from "./run-log.ts";

/** So near to the end, the page follows new entries. */
const NEAR_END_PX = 80;

/** Follows the end of the page while the reader is there, and counts what comes while the reader is elsewhere. */
export function useEnd(view: RunLogView, list: RefObject<HTMLDivElement | null>) {
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

function distanceToEnd(): number {
  return document.documentElement.scrollHeight - window.innerHeight - window.scrollY;
}

function firstSeqOf(row: Row | undefined): number {
  return row !== undefined && "entry" in row ? row.entry.seq : 0;
}
