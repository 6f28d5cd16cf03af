import type { ChildProcess } from "node:child_process";
import { AppError } from "../core/errors.ts";

/**
 * A child that has just been spawned. To a process without a file descriptor left, Node gives one without any pipe, whose
 * error comes only afterwards: whoever stumbles over a pipe before listening for it would have the error end our process.
 */
export function withPipes<Child extends ChildProcess>(child: Child): Child {
  // The types know of no child without pipes.
  if ((child.stdio as unknown) !== undefined) return child;
  child.once("error", () => undefined);
  throw new AppError("resource_unavailable", "No program can be started: too many files are open.", {
    remedy: "Ask the operator of this server for a higher limit of open files (ulimit -n).",
  });
}
