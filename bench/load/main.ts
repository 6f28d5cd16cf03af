import type { LoadMessage, LoadOrder } from "./load-order.ts";
import { LoadRun } from "./load-run.ts";

/** The load process: carries out the orders that its parent sends, one at a time. */
function send(message: LoadMessage): void {
  process.send?.(message);
}

process.on("message", async (order: LoadOrder) => {
  const result = await new LoadRun(order).perform(() => send({ kind: "measuring" }));
  send({ kind: "done", result });
});
process.on("disconnect", () => process.exit(0));
