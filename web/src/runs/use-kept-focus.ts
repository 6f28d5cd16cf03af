import { type RefObject, useEffect, useRef } from "react";

/** Keeps the focus on a run that moves to another group, where it is another element. */
export function useKeptFocus(list: RefObject<HTMLElement | null>): void {
  const row = useRef<HTMLElement>(null);
  useEffect(() => {
    const onFocus = ({ target }: FocusEvent) => {
      row.current = target instanceof Element ? target.closest<HTMLElement>("[data-run]") : null;
    };
    document.addEventListener("focusin", onFocus);
    return () => document.removeEventListener("focusin", onFocus);
  }, []);
  useEffect(() => {
    // An element that left the document has lost the focus to the body.
    if (row.current?.isConnected === false && document.activeElement === document.body) {
      const id = CSS.escape(row.current.dataset.run ?? "");
      list.current?.querySelector<HTMLElement>(`[data-run="${id}"] .run-title`)?.focus();
    }
  });
}
