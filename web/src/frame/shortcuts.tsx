import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useMemo, useRef } from "react";
import { load } from "../server/load.ts";
import { runInAddress } from "../server/page.ts";
import type { DialogName } from "./commands.tsx";
import { areKeysOff, isTyping } from "./single-keys.ts";

const CommandDialog = lazy(async () => ({
  default: (await load(() => import("./commands.tsx"))).CommandDialog,
}));

const VIEW_KEYS: Readonly<Record<string, "mine" | "needs" | "running" | undefined>> = {
  m: "mine",
  n: "needs",
  r: "running",
  a: undefined,
};

/** The keys that work on every page, and the dialogs that they open. */
export function Shortcuts({
  shown,
  onShow,
}: {
  readonly shown: DialogName | undefined;
  readonly onShow: (dialog: DialogName | undefined) => void;
}) {
  const navigate = useNavigate();
  const lastG = useRef(0);
  // Read before the dialog takes the focus.
  const runId = useMemo(() => (shown === undefined ? undefined : runInFocus()), [shown]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        onShow("commands");
        return;
      }
      if (isTyping(event) || areKeysOff()) {
        return;
      }
      const key = event.key.toLowerCase();
      if (Date.now() - lastG.current < 1_500 && key in VIEW_KEYS) {
        lastG.current = 0;
        const view = VIEW_KEYS[key];
        void navigate({ to: "/", search: view === undefined ? {} : { view } });
      } else if (key === "g") {
        lastG.current = Date.now();
      } else if (key === "c") {
        event.preventDefault();
        void navigate({ to: "/new" });
      } else if (key === "/") {
        event.preventDefault();
        document.querySelector<HTMLInputElement>("input[type=search]")?.focus();
      } else if (key === "?") {
        onShow("keys");
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [navigate, onShow]);
  return (
    shown && (
      <Suspense>
        <CommandDialog shown={shown} runId={runId} onClose={() => onShow(undefined)} />
      </Suspense>
    )
  );
}

/** The run of the page, or the one in the list that has the focus or is the only selected one. */
function runInFocus(): string | undefined {
  const selected = document.querySelectorAll<HTMLElement>("[data-run][data-selected=true]");
  const row =
    document.activeElement?.closest<HTMLElement>("[data-run]") ??
    (selected.length === 1 ? selected[0] : undefined);
  return row?.dataset.run ?? runInAddress(window.location.pathname);
}
