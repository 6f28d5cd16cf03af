import { useSyncExternalStore } from "react";
import { VISITOR } from "./page.ts";
import { queries } from "./queries.ts";

/** What keeps the page from working: the server does not answer, the sign-in has ended, or the server has a new version. */
export type Trouble = "lost" | "signedOut" | "updated";

const PROBE_MS = 5_000;
const PROBE_TIMEOUT_MS = 10_000;
/** Where the user may have typed something. */
const TYPED = "main textarea, main form input:not([type=search])";

let trouble: Trouble | undefined;
let probing: Promise<void> | undefined;
const listeners = new Set<() => void>();

function set(next: Trouble | undefined): void {
  trouble = next;
  for (const listener of listeners) {
    listener();
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useTrouble(): Trouble | undefined {
  return useSyncExternalStore(subscribe, () => trouble);
}

/** Called with the status of each answer. Undefined: there was none. */
export function noteAnswer(status: number | undefined): void {
  const isLost = status === undefined || (status >= 502 && status <= 504);
  if (isLost || trouble === "lost") {
    void probe();
  } else if (status === 401 && VISITOR === "member") {
    noteSignedOut();
  } else if (trouble === "signedOut") {
    set(undefined);
    void queries.invalidateQueries();
  }
}

/** A page on which nothing can be typed leads to the sign-in page. Every other page stays as it is. */
function noteSignedOut(): void {
  if (trouble !== "signedOut") {
    set("signedOut");
    if (document.querySelector(TYPED) === null) {
      window.location.assign(signInPath());
    }
  }
}

/** The sign-in page, which leads back here. */
export function signInPath(): string {
  const { hash, pathname, search } = window.location;
  return `/signin?next=${encodeURIComponent(pathname + search)}${hash}`;
}

/** Asks whether the server is there, and again until it is. */
export function probe(): Promise<void> {
  probing ??= isThere().then((there) => {
    probing = undefined;
    if (!there) {
      set("lost");
      setTimeout(probe, PROBE_MS);
    } else if (trouble === "lost") {
      set(undefined);
      void queries.invalidateQueries();
      void checkVersion();
    }
  });
  return probing;
}

export function isThere(): Promise<boolean> {
  return fetch("/healthz", { cache: "no-store", signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) }).then(
    ({ ok }) => ok,
    () => false,
  );
}

const SCRIPT = /<script[^>]* src="(\/app\/[^"]+)"/;

/** Each build has its own name of the first script. Another document, such as that of signing in, has none. */
export async function checkVersion(): Promise<void> {
  const own = document.querySelector<HTMLScriptElement>('script[src^="/app/"]')?.getAttribute("src");
  const answer = await fetch(window.location.href, { cache: "no-store" }).catch(() => undefined);
  const current = SCRIPT.exec((await answer?.text()) ?? "")?.[1];
  if (
    own !== undefined &&
    own !== null &&
    current !== undefined &&
    current !== own &&
    trouble === undefined
  ) {
    set("updated");
  }
}
