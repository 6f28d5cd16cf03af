import { type RunItem, type RunState, withHiddenShown } from "@errand/client";
import { useEffect, useRef } from "react";
import { needsReader } from "../parts/deciders.ts";
import { hasEnded, STATES, stateWord } from "../parts/state.tsx";
import done from "./marks/done.svg";
import error from "./marks/error.svg";
import fail from "./marks/fail.svg";
import needs from "./marks/needs.svg";

/** The icons of a tab, by the class of the state. */
const ICONS: Readonly<Record<string, string>> = { needs, done, fail, error };

/** Shows in the title and the icon of the tab that the run needs the reader or has ended, and notifies a hidden tab. */
export function useAttention(run: RunItem | undefined, state: RunState | undefined): void {
  const before = useRef<string>(undefined);
  const title = run && withHiddenShown(run.title);
  const word = run && state && stateWord(state, run);
  const isNeeded = run !== undefined && state === "BLOCKED" && needsReader(run);
  useEffect(() => {
    if (title === undefined || state === undefined || word === undefined) {
      return;
    }
    document.title = `${isNeeded ? "(!) " : ""}${word}: ${title} · Errand`;
    const isNews = before.current !== undefined && before.current !== word;
    const needsLook = isNeeded || hasEnded(state);
    before.current = word;
    const isHidden = document.visibilityState !== "visible";
    showIcon(isNeeded || (needsLook && isHidden) ? ICONS[STATES[state].tone] : undefined);
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
  }, [title, state, word, isNeeded]);
  useEffect(() => {
    const onVisible = () => document.visibilityState === "visible" && !isNeeded && showIcon(undefined);
    document.addEventListener("visibilitychange", onVisible);
    return () => {
      document.removeEventListener("visibilitychange", onVisible);
      showIcon(undefined);
    };
  }, [isNeeded]);
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
