import { useEffect, useRef } from "react";
import { areKeysOff, isTyping } from "../frame/single-keys.ts";
import { copy } from "../parts/copy.ts";
import { isOpenQuestion, type Row } from "./conversation/blocks.ts";
import type { Entry } from "./conversation/entries.ts";
import { isFailed } from "./conversation/tool-call.ts";

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
export function useConversationKeys(deps: KeyDeps): void {
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
        void copy(window.location.href, "Link");
      } else if (key === "m" && row !== undefined && "entry" in row) {
        onCopy(row.entry);
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}

/** The row with the focus, or else the first one on the screen. */
export function currentIndex(): number {
  const focused = document.activeElement?.closest<HTMLElement>("[data-index]");
  if (focused !== null && focused !== undefined) {
    return Number(focused.dataset.index);
  }
  const shown = [...document.querySelectorAll<HTMLElement>(".entries [data-index]")].find(
    (row) => row.getBoundingClientRect().bottom > window.innerHeight / 3,
  );
  return Number(shown?.dataset.index ?? 0);
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
  return (row.kind === "step" || row.kind === "entry") && isFailed(row.entry);
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
