import { fork } from "node:child_process";
import { join } from "node:path";
import type { ViewerMessage, ViewerOrder, ViewerResult } from "./viewer-order.ts";

/** Watches streams from a separate process. `onWatching` is called when all streams are open. */
export function watchStreams(order: ViewerOrder, onWatching: () => void): Promise<ViewerResult> {
  const child = fork(join(import.meta.dirname, "viewers-main.ts"));
  return new Promise((resolve, reject) => {
    child.once("exit", () => reject(new Error("The viewers' process has ended.")));
    child.on("message", (message) => {
      const answer = message as ViewerMessage;
      if (answer.kind === "watching") {
        onWatching();
      } else {
        resolve(answer.result);
      }
    });
    child.send(order);
  });
}
