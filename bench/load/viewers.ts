import { fork } from "node:child_process";
import { join } from "node:path";
import type { ViewerMessage, ViewerOrder, ViewerResult } from "./viewer-order.ts";

/** Watches from a process of its own; `onWatching` is called when all streams are open. */
export function watchStreams(order: ViewerOrder, onWatching: () => void): Promise<ViewerResult> {
  const child = fork(join(import.meta.dirname, "viewers-main.ts"));
  return new Promise((resolve, reject) => {
    child.once("exit", () => reject(new Error("The viewers' process has ended.")));
    child.on("message", (message) => {
      const told = message as ViewerMessage;
      if (told.kind === "watching") onWatching();
      else resolve(told.result);
    });
    child.send(order);
  });
}
