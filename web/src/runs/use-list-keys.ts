import { type RefObject, useEffect } from "react";
import { areKeysOff, isTyping } from "../frame/single-keys.ts";
import type { Selection } from "./use-selection.ts";

/** J and K move between the rows, on the board ← and → between the columns, X selects one, A opens its question, E asks to stop. Enter follows the focused link. */
export function useListKeys(list: RefObject<HTMLElement | null>, selection: Selection): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event) || areKeysOff() || list.current === null) {
        return;
      }
      const row = document.activeElement?.closest<HTMLElement>(".run-row");
      const id = row?.dataset.run;
      const key = event.key.toLowerCase();
      switch (key) {
        case "j":
        case "k":
          moveFocus(list.current, key === "j" ? 1 : -1);
          break;
        case "arrowleft":
        case "arrowright":
          if (row && list.current.matches(".board")) {
            event.preventDefault();
            moveColumn(list.current, row, key === "arrowright" ? 1 : -1);
          }
          break;
        case "x":
          if (id !== undefined) {
            selection.toggle(id, event.shiftKey);
          }
          break;
        case "a":
          row?.querySelector<HTMLElement>("a.btn.run-act")?.click();
          break;
        case "e":
          selection.askToStop(id);
          break;
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [list, selection]);
}

function moveFocus(list: HTMLElement, step: 1 | -1): void {
  const titles = [...list.querySelectorAll<HTMLElement>(".run-title")];
  const row = document.activeElement?.closest(".run-row");
  const at = titles.findIndex((title) => row?.contains(title));
  titles[Math.max(0, Math.min(titles.length - 1, at + step))]?.focus();
}

/** Moves to the row at the same height of the next column, or to its last one. */
function moveColumn(list: HTMLElement, row: HTMLElement, step: 1 | -1): void {
  const columns = [...list.querySelectorAll(".runs-group")].map((column) => [
    ...column.querySelectorAll<HTMLElement>(".run-row"),
  ]);
  const at = columns.findIndex((rows) => rows.includes(row));
  const rows = columns[at + step] ?? [];
  const target = rows[Math.min(columns[at]?.indexOf(row) ?? 0, rows.length - 1)];
  target?.querySelector<HTMLElement>(".run-title")?.focus();
}
