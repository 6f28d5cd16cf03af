import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import type { LoadMessage, LoadOrder, LoadResult } from "./load-order.ts";

/** The load comes from a separate process, so that its processor time is in no other figure. */
export class LoadProcess {
  readonly #child: ChildProcess;

  constructor() {
    this.#child = fork(join(import.meta.dirname, "main.ts"));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Rejects when an answer had another status, because a benchmark of the wrong answers measures nothing. */
  async perform(order: LoadOrder, onMeasuring: () => void = () => undefined): Promise<LoadResult> {
    const result = await this.#perform(order, onMeasuring);
    const refused = Object.entries(result.refused);
    if (refused.length === 0 && result.answers > 0) {
      return result;
    }
    const counts = refused.map(([status, count]) => `${count} x ${status}`).join(", ");
    const [request] = order.requests;
    throw new Error(
      `${request?.method} ${request?.path} was answered ${result.answers} x as expected, ${counts}.`,
    );
  }

  stop(): void {
    if (this.#child.connected) {
      this.#child.disconnect();
    }
  }

  #perform(order: LoadOrder, onMeasuring: () => void): Promise<LoadResult> {
    return new Promise((resolve, reject) => {
      const fail = () => reject(new Error("The load process has ended."));
      const take = (message: unknown) => {
        const { kind, ...rest } = message as LoadMessage;
        if (kind === "measuring") {
          return onMeasuring();
        }
        this.#child.off("message", take).off("exit", fail);
        if ("result" in rest) {
          resolve(rest.result);
        }
      };
      this.#child.on("message", take).once("exit", fail);
      this.#child.send(order);
    });
  }
}
