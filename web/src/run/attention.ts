import type { RunState } from "@errand/client";
import { useEffect, useRef } from "react";
import { hasEnded, STATES } from "../parts/state.tsx";
import done from "./marks/done.svg";
import error from "./marks/error.svg";
import fail from "./marks/fail.svg";
import needs from "./marks/needs.svg";

/** The icons of a tab, by the class of the state. */
const ICONS: Readonly<Record<string, string>> = { needs, done, fail, error };

/** Shows in the title and the icon of the tab that the run needs a person or has ended, and notifies a hidden tab. */
export function useAttention(title: string | undefined, state: RunState | undefined): void {
  const before = useRef<RunState>(undefined);
  useEffect(() => {
    if (title === undefined || state === undefined) {
      return;
    }
    const { tone, word } = STATES[state];
    document.title = `${state === "BLOCKED" ? "(!) " : ""}${word}: ${title} · Errand`;
    const isNews = before.current !== undefined && before.current !== state;
    const needsLook = state === "BLOCKED" || hasEnded(state);
    before.current = state;
    const isHidden = document.visibilityState !== "visible";
    showIcon(state === "BLOCKED" || (needsLook && isHidden) ? ICONS[tone] : undefined);
    if (
      isNews &&
      needsLook &&
      isHidden &&
      "Notification" in window &&
      Notification.permission === "granted"
    ) {
      const notification = new Notification(`${word}: ${title}`, { tag: window.location.pathname });
      notification.onclick = () => window.focus();
    }
  }, [title, state]);
  useEffect(() => {
    const onVisible = () =>
      document.visibilityState === "visible" && state !== "BLOCKED" && showIcon(undefined);
    document.addEventListener("visibilitychange", onVisible);
    return () => {
      document.removeEventListener("visibilitychange", onVisible);
      showIcon(undefined);
    };
  }, [state]);
}

/** Asks whether notifications may be shown. Browsers allow this only after a click. */
export function askToNotify(): void {
  if ("Notification" in window && Notification.permission === "default") {
    void Notification.requestPermission();
  }
}

/** undefined: the icon of the page itself. */
function showIcon(address: string | undefined): void {
  const link = document.querySelector<HTMLLinkElement>("link[rel=icon]");
  if (link !== null) {
    plain ??= link.href;
    link.href = address ?? plain;
  }
}
let plain: string | undefined;
