import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { areKeysOff, isTyping } from "../frame/single-keys.ts";
import { type FileDiff, fingerprintOf } from "./text/diff.ts";

const LAYOUT = "errand.diff-layout";
const VIEWED = "errand.viewed";
/** Two columns need this much room. */
const WIDE = "(min-width: 1180px)";
/** The viewed files of older runs are forgotten. */
const RUNS_MAX = 50;

/** Whether changes are shown in two columns. The choice is remembered in this browser. */
export function useSplit(): {
  readonly isWide: boolean;
  readonly isSplit: boolean;
  readonly choose: (isSplit: boolean) => void;
} {
  const isWide = useSyncExternalStore(followWidth, () => window.matchMedia(WIDE).matches);
  const [isChosen, setChosen] = useState(() => localStorage.getItem(LAYOUT) === "split");
  const choose = useCallback((isSplit: boolean) => {
    localStorage.setItem(LAYOUT, isSplit ? "split" : "unified");
    setChosen(isSplit);
  }, []);
  return { isWide, isSplit: isWide && isChosen, choose };
}

function followWidth(onChange: () => void): () => void {
  const query = window.matchMedia(WIDE);
  query.addEventListener("change", onChange);
  return () => query.removeEventListener("change", onChange);
}

type ViewedFiles = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Whether the user has viewed this change of a file. Another change of the file, by a later turn, is not viewed. */
export function useViewed(
  runId: string,
  repository: string,
  file: FileDiff,
): [boolean, (is: boolean) => void] {
  const name = `${repository} ${file.path}`;
  const [isViewed, setViewed] = useState(() => readViewed()[runId]?.[name] === fingerprintOf(file));
  const change = (is: boolean) => {
    const { [runId]: ofRun = {}, ...others } = readViewed();
    const { [name]: _, ...rest } = ofRun;
    const kept = Object.entries(others).slice(1 - RUNS_MAX);
    const now = is ? { ...rest, [name]: fingerprintOf(file) } : rest;
    localStorage.setItem(VIEWED, JSON.stringify({ ...Object.fromEntries(kept), [runId]: now }));
    setViewed(is);
  };
  return [isViewed, change];
}

function readViewed(): ViewedFiles {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(VIEWED) ?? "{}");
    return typeof stored === "object" && stored !== null ? (stored as ViewedFiles) : {};
  } catch {
    // Another page of this address may have written it.
    return {};
  }
}

const STOPS: Readonly<Record<string, { readonly selector: string; readonly isNext: boolean }>> = {
  j: { selector: ".changed-file", isNext: true },
  k: { selector: ".changed-file", isNext: false },
  n: { selector: ".changed-file .hunk", isNext: true },
  p: { selector: ".changed-file .hunk", isNext: false },
};

/**
 * `J` and `K` go to the next and the previous file, `N` and `P` to the next and the previous hunk. `V` marks the file
 * as viewed, and `U` changes between one and two columns.
 */
export function useChangesKeys(onLayout: () => void): void {
  const current = useRef<Element | null>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const key = event.key.toLowerCase();
      if (isTyping(event) || areKeysOff()) {
        return;
      }
      if (key === "u") {
        onLayout();
      } else if (key === "v") {
        current.current
          ?.closest(".changed-file")
          ?.querySelector<HTMLElement>("input[type=checkbox]")
          ?.click();
      } else if (key in STOPS) {
        const stop = nextStop(key, current.current);
        current.current = stop ?? current.current;
        stop?.scrollIntoView({ block: "start" });
        stop?.focus({ preventScroll: true });
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [onLayout]);
}

function nextStop(key: string, current: Element | null): HTMLElement | undefined {
  const { selector, isNext } = STOPS[key] ?? {};
  const stops = Array.from(document.querySelectorAll<HTMLElement>(selector ?? ""));
  if (current === null || !current.isConnected) {
    return stops[0];
  }
  const wanted = isNext ? Node.DOCUMENT_POSITION_FOLLOWING : Node.DOCUMENT_POSITION_PRECEDING;
  const among = stops.filter((stop) => (current.compareDocumentPosition(stop) & wanted) !== 0);
  return isNext ? among[0] : among.at(-1);
}
