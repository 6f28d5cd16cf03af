import type { QueryClient } from "@tanstack/react-query";
import { checkVersion, noteAnswer } from "./trouble.ts";

/**
 * `reset`: something may have been missed. `lost`: the server does not answer the worker. `reopened`: the server, or another
 * version of it, answers again.
 */
export type LiveMessage =
  | { readonly type: "changed"; readonly runIds: readonly string[] }
  | { readonly type: "reset" | "lost" | "reopened" };

const POLL_MS = 15_000;

/**
 * Keeps the queries of runs up to date. All tabs of a browser share one event stream, because a browser opens only six
 * connections to a server over HTTP/1.1. A browser without shared workers asks every 15 seconds.
 */
export function followRuns(queries: QueryClient): void {
  const onMessage = (message: LiveMessage) => {
    if (message.type === "lost") {
      noteAnswer(undefined);
      return;
    }
    if (message.type === "reopened") {
      // A server that was started again may have other settings.
      void queries.invalidateQueries();
      void checkVersion();
      return;
    }
    void queries.invalidateQueries({ queryKey: ["runs"] });
    for (const id of message.type === "changed" ? message.runIds : []) {
      void queries.invalidateQueries({ queryKey: ["run", id] });
    }
    if (message.type === "reset") {
      void queries.invalidateQueries({ queryKey: ["run"] });
    }
  };
  if (typeof SharedWorker === "undefined") {
    setInterval(() => document.visibilityState === "visible" && onMessage({ type: "reset" }), POLL_MS);
    return;
  }
  const worker = new SharedWorker(new URL("./live-worker.ts", import.meta.url), {
    type: "module",
    name: "errand",
  });
  worker.port.onmessage = ({ data }: MessageEvent<LiveMessage>) => onMessage(data);
  // A page in the back-forward cache stays connected. A closed one says so, because a port has no event for it.
  window.addEventListener("pagehide", ({ persisted }) => persisted || worker.port.postMessage("closed"));
}
