import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
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

/** For each run, the files that were viewed, with the fingerprint of the change that was shown. */
type ViewedFiles = Readonly<Record<string, Readonly<Record<string, string>>>>;

const NOTHING: ViewedFiles[string] = {};
const followers = new Set<() => void>();
let known: { readonly text: string | null; readonly files: ViewedFiles } = { text: null, files: {} };

/**
 * The files whose present change the user has viewed, and a function that changes it. Another change of a file, by a later
 * turn, is not viewed. All tabs of the browser show the same.
 */
export function useViewed(
  runId: string,
  repository: string,
  files: readonly FileDiff[],
): { readonly viewed: ReadonlySet<FileDiff>; readonly view: (file: FileDiff, is: boolean) => void } {
  const ofRun = useSyncExternalStore(followViewed, () => readViewed()[runId] ?? NOTHING);
  const prints = useMemo(() => new Map(files.map((file) => [file, fingerprintOf(file)])), [files]);
  const viewed = useMemo(
    () => new Set(files.filter((file) => ofRun[`${repository} ${file.path}`] === prints.get(file))),
    [files, ofRun, prints, repository],
  );
  const view = useCallback(
    (file: FileDiff, is: boolean) => {
      const name = `${repository} ${file.path}`;
      const { [runId]: { [name]: _, ...rest } = NOTHING, ...others } = readViewed();
      const kept = Object.entries(others).slice(1 - RUNS_MAX);
      const now = is ? { ...rest, [name]: fingerprintOf(file) } : rest;
      localStorage.setItem(VIEWED, JSON.stringify({ ...Object.fromEntries(kept), [runId]: now }));
      for (const follower of followers) {
        follower();
      }
    },
    [runId, repository],
  );
  return { viewed, view };
}

function followViewed(onChange: () => void): () => void {
  followers.add(onChange);
  window.addEventListener("storage", onChange);
  return () => {
    followers.delete(onChange);
    window.removeEventListener("storage", onChange);
  };
}

/** The same object as long as the stored text is the same. */
function readViewed(): ViewedFiles {
  const text = localStorage.getItem(VIEWED);
  if (text !== known.text) {
    known = { text, files: parseViewed(text ?? "{}") };
  }
  return known.files;
}

function parseViewed(text: string): ViewedFiles {
  try {
    const stored: unknown = JSON.parse(text);
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
 * as viewed, `U` changes between one and two columns, and `S` goes to the comments that are to be sent.
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
      } else if (key === "s") {
        document.querySelector<HTMLElement>(".comments-bar input")?.focus();
        event.preventDefault();
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
