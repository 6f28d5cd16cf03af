import { IconButton } from "../../parts/icon-button.tsx";
import "./find.css";
import { withHiddenShown } from "@errand/client";
import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { count } from "../../parts/format.ts";
import { useRun } from "../run-context.tsx";
import type { RunLogView } from "../run-log.ts";
import { currentIndex } from "../use-conversation-keys.ts";
import { firstSeqOf } from "../use-end.ts";
import { KINDS, type Kind, type Match, searchFor } from "./matches.ts";

/** The search in the whole log of a run. It writes the entry that it shows into the address of the page. */
export function FindBar({ view, onClose }: { readonly view: RunLogView; readonly onClose: () => void }) {
  const [text, setText] = useState("");
  const [kind, setKind] = useState<Kind>("");
  const field = useRef<HTMLInputElement>(null);
  const { matches, index, go } = useMatches(view, text, kind);
  const match = matches[index];
  const isEmpty = text.trim() === "" && kind === "";
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && event.target === field.current) {
      event.preventDefault();
      go(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      event.preventDefault();
      onClose();
    }
  };
  return (
    <search className="find" aria-label="In this run" onKeyDown={onKeyDown}>
      <div className="find-row">
        <input
          ref={field}
          // biome-ignore lint/a11y/noAutofocus: The reader has just opened this field in order to type.
          autoFocus
          type="search"
          className="input"
          aria-label="Search in this run"
          placeholder="Search in this run"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <select
          className="select"
          aria-label="Where"
          value={kind}
          onChange={({ target }) => setKind(KINDS.find(({ value }) => value === target.value)?.value ?? "")}
        >
          {KINDS.map(({ name, value }) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
        <span className="find-count num sm" role="status">
          {!isEmpty && (match ? `${count(index + 1)} of ${count(matches.length)}` : "No match")}
        </span>
        <IconButton
          icon="chevronUp"
          name="Previous match"
          keyName="Shift Enter"
          disabled={match === undefined}
          onClick={() => go(-1)}
        />
        <IconButton
          icon="chevronDown"
          name="Next match"
          keyName="Enter"
          disabled={match === undefined}
          onClick={() => go(1)}
        />
        <IconButton icon="close" name="Close the search" keyName="Esc" onClick={onClose} />
      </div>
      {match?.excerpt && (
        <p className="find-excerpt mono xs one" dir="auto">
          {withHiddenShown(match.excerpt[0])}
          <mark>{withHiddenShown(match.excerpt[1])}</mark>
          {withHiddenShown(match.excerpt[2])}
        </p>
      )}
      <Incomplete view={view} />
    </search>
  );
}

/** The matches, and which of them is shown. The first one is the next from the entry at the top of the screen. */
function useMatches(view: RunLogView, text: string, kind: Kind) {
  const { log, run, servers } = useRun();
  const prompt = run?.prompt ?? "";
  const search = useMemo(() => searchFor({ text, kind }, { prompt, servers }), [text, kind, prompt, servers]);
  const { held, version } = view;
  // biome-ignore lint/correctness/useExhaustiveDependencies: The entries of a log change in place, with a new version.
  const matches = useMemo(() => search([...log.entries, ...held]), [search, log, held, version]);
  const [from, setFrom] = useState<Pick<Match, "key" | "seq">>(() => ({
    key: "",
    seq: firstSeqOf(view.rows[currentIndex()]),
  }));
  const index = indexFrom(matches, from);
  const key = matches[index]?.key;
  useEffect(() => {
    if (key !== undefined) {
      showEntry(key);
    }
  }, [key]);
  const go = (step: 1 | -1) => {
    const next = matches[(index + step + matches.length) % matches.length];
    if (next !== undefined) {
      setFrom(next);
    }
  };
  return { matches, index, go };
}

/** A navigation to an entry that is in the document would take the focus from the field. */
function showEntry(key: string): void {
  window.history.replaceState(window.history.state, "", `#${encodeURIComponent(key)}`);
  window.dispatchEvent(new HashChangeEvent("hashchange"));
}

/** The place of the match that was shown last, or else of the next one, or else of the last one. */
function indexFrom(matches: readonly Match[], { key, seq }: Pick<Match, "key" | "seq">): number {
  const same = matches.findIndex((match) => match.key === key);
  const next = same === -1 ? matches.findIndex((match) => match.seq >= seq) : same;
  return next === -1 ? matches.length - 1 : next;
}

/** What was not searched. The whole log is read while the search is open. */
function Incomplete({
  view: { eventCount, hasEarlier, isLoaded, loadedCount },
}: {
  readonly view: RunLogView;
}) {
  const { log } = useRun();
  const [isReading, setReading] = useState(true);
  const read = useCallback(() => {
    setReading(true);
    void log.loadUntil().finally(() => setReading(false));
  }, [log]);
  useEffect(() => {
    if (isLoaded) {
      read();
    }
  }, [isLoaded, read]);
  if (!hasEarlier) {
    return null;
  }
  return (
    <p className="find-note sm muted">
      {isReading ? "Still searching: " : "Not complete: "}
      {count(loadedCount)} of {count(eventCount)} events so far.
      {!isReading && (
        <button type="button" className="link" onClick={read}>
          Read the others
        </button>
      )}
    </p>
  );
}
