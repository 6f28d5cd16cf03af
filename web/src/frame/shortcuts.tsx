import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { areKeysOff, isTyping } from "./single-keys.ts";

const CommandDialog = lazy(async () => ({ default: (await import("./commands.tsx")).CommandDialog }));

const VIEW_KEYS: Readonly<Record<string, "mine" | "needs" | "running" | undefined>> = {
  m: "mine",
  n: "needs",
  r: "running",
  a: undefined,
};

/** The keys that work on every page. */
export function Shortcuts() {
  const navigate = useNavigate();
  const [shown, setShown] = useState<"commands" | "keys" | undefined>();
  const lastG = useRef(0);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        setShown("commands");
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
        setShown("keys");
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [navigate]);
  return (
    shown && (
      <Suspense>
        <CommandDialog shown={shown} onClose={() => setShown(undefined)} />
      </Suspense>
    )
  );
}
