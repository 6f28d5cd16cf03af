import type { ChildProcess } from "node:child_process";
import { AppError } from "../core/errors.ts";

/**
 * Returns a child process that has just been spawned, or throws when it has no pipes. If this process has no free
 * file descriptor, Node returns a child without pipes and reports the error later. Code that uses a missing pipe
 * before it listens for that error would end our process.
 */
export function withPipes<Child extends ChildProcess>(child: Child): Child {
  // The types do not describe a child without pipes.
  if ((child.stdio as unknown) !== undefined) {
    return child;
  }
  child.once("error", () => undefined);
  throw new AppError("resource_unavailable", "No program can be started: too many files are open.", {
    remedy: "Ask the operator of this server for a higher limit of open files (ulimit -n).",
  });
}
