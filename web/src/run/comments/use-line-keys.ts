import { type RefObject, useEffect } from "react";
import { areKeysOff, isTyping } from "../../frame/single-keys.ts";
import type { LineRange, Side } from "./placement.ts";

const ROW = "tr[data-left], tr[data-right]";

interface LineKeys {
  /** Several lines are chosen; undefined: only the focused one. */
  readonly onSelect: (range: LineRange | undefined) => void;
  readonly onComment: (range: LineRange) => void;
}

/**
 * The arrows go from line to line, with Shift they choose several, and `C` comments on them. A click on a number does the
 * same. The keys of the page must not act too, so the events end here.
 */
export function useLineKeys(section: RefObject<HTMLElement | null>, isOn: boolean, keys: LineKeys): void {
  const { onComment, onSelect } = keys;
  useEffect(() => {
    const around = section.current;
    if (around === null || !isOn) {
      return;
    }
    let anchor: HTMLElement | undefined;
    const choose = (row: HTMLElement, extends_: boolean) => {
      anchor = extends_ ? (anchor ?? row) : row;
      return rangeOf(anchor, row);
    };
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (isTyping(event) || areKeysOff() || !(target === around || target.matches(`${ROW}, tr.hunk`))) {
        return;
      }
      const isDown = event.key === "ArrowDown";
      if (isDown || event.key === "ArrowUp") {
        const next = neighbour(around, target, isDown);
        if (next !== undefined) {
          event.preventDefault();
          if (event.shiftKey && target.matches(ROW)) {
            anchor ??= target;
          }
          const range = choose(next, event.shiftKey);
          onSelect(event.shiftKey ? range : undefined);
          next.focus();
        }
      } else if (event.key.toLowerCase() === "c" && target.matches(ROW)) {
        event.preventDefault();
        event.stopPropagation();
        onComment(rangeOf(event.shiftKey || anchor?.isConnected ? (anchor ?? target) : target, target));
      }
    };
    const onClick = (event: MouseEvent) => {
      const cell = (event.target as HTMLElement).closest<HTMLElement>("td.no");
      const row = cell?.closest<HTMLElement>(ROW);
      if (cell && row) {
        const range = choose(row, event.shiftKey);
        const isLeft =
          row.children.length > 4 && cell === row.firstElementChild && row.dataset.left !== undefined;
        onComment(isLeft ? single("left", row) : range);
      }
    };
    around.addEventListener("keydown", onKey);
    around.addEventListener("click", onClick);
    return () => {
      around.removeEventListener("keydown", onKey);
      around.removeEventListener("click", onClick);
    };
  }, [section, isOn, onComment, onSelect]);
}

function neighbour(around: HTMLElement, from: HTMLElement, isNext: boolean): HTMLElement | undefined {
  const wanted = isNext ? Node.DOCUMENT_POSITION_FOLLOWING : Node.DOCUMENT_POSITION_PRECEDING;
  const rows = Array.from(around.querySelectorAll<HTMLElement>(ROW)).filter(
    (row) => (from.compareDocumentPosition(row) & wanted) !== 0,
  );
  return isNext ? rows[0] : rows.at(-1);
}

/** The lines between two rows, on the side of the last one. A removed line has only the left side. */
function rangeOf(first: HTMLElement, last: HTMLElement): LineRange {
  const side: Side = last.dataset.right === undefined ? "left" : "right";
  const [one = 0, other] = [last, first].map((row) => row.dataset[side] && Number(row.dataset[side]));
  const numbers = [Number(one), Number(other || one)];
  return { side, from: Math.min(...numbers), to: Math.max(...numbers) };
}

function single(side: Side, row: HTMLElement): LineRange {
  const number = Number(row.dataset[side]);
  return { side, from: number, to: number };
}

/** Not if the reader has begun to write elsewhere. */
export function focusLine(section: HTMLElement | null, range: LineRange | undefined): void {
  if (range !== undefined && document.activeElement?.matches("input, textarea") !== true) {
    section?.querySelector<HTMLElement>(`tr[data-${range.side}="${range.to}"]`)?.focus();
  }
}
