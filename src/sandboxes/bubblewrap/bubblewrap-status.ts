import type { Readable } from "node:stream";
import { z } from "zod";
import { findProcess, type ProcessIdentity } from "../linux-processes.ts";

const statusLine = z.object({ "child-pid": z.number().optional(), "exit-code": z.number().optional() });

/** Reads bubblewrap's status, one JSON object per line (`--json-status-fd`). */
export class BubblewrapStatus {
  /**
   * The first process of the sandbox as the host sees it. When it is gone, all are gone. Undefined: it never started.
   */
  readonly firstProcess: Promise<ProcessIdentity | undefined>;
  /** Undefined when the command never ran. */
  readonly exitCode: Promise<number | undefined>;

  constructor(lines: Readable) {
    const firstProcess = Promise.withResolvers<ProcessIdentity | undefined>();
    const exitCode = Promise.withResolvers<number | undefined>();
    this.firstProcess = firstProcess.promise;
    this.exitCode = exitCode.promise;
    let text = "";
    let hasBegun = false;
    lines.setEncoding("utf8");
    lines.on("data", (chunk: string) => {
      text += chunk;
      const pid = hasBegun ? undefined : find(text, "child-pid");
      if (pid === undefined) {
        return;
      }
      hasBegun = true;
      // Resolved once, because a rejection before anything awaits it would be unhandled.
      firstProcess.resolve(findProcess(pid));
    });
    lines.once("close", () => {
      firstProcess.resolve(undefined);
      exitCode.resolve(find(text, "exit-code"));
    });
  }
}

function find(text: string, member: "child-pid" | "exit-code"): number | undefined {
  const complete = text.split("\n").slice(0, -1);
  return complete
    .map((line) => statusLine.parse(JSON.parse(line))[member])
    .find((value) => value !== undefined);
}
