import { existsSync } from "node:fs";
import { SYSTEM_CALLS } from "../../src/sandboxes/bubblewrap/system-calls.ts";

export interface ProbedCall {
  readonly name: string;
  readonly args: readonly (number | string)[];
}

/** Whether tests that make system calls can run here. In CI nothing is skipped. */
export const HAS_PERL = existsSync("/usr/bin/perl") || process.env.CI === "true";

/** A command for a shell that makes system calls and prints the error number of each, or 0. Needs perl. */
export function probeCommand(calls: readonly ProbedCall[]): string {
  const lines = calls.map(({ args, name }, index) => {
    const values = args.map((arg) => (typeof arg === "string" ? `my $text = "${arg}"` : arg));
    return `{ my $result = syscall(${[systemCallNumber(name), ...values].join(", ")});
      print "${index} ", $result == -1 ? $! + 0 : 0, "\\n"; }`;
  });
  return `perl -e '$| = 1; ${lines.join("\n")}'`;
}

/** The error numbers that `probeCommand` printed, in the order of the calls. */
export function probedErrors(output: string): readonly number[] {
  return output
    .trim()
    .split("\n")
    .map((line) => Number(line.split(" ")[1]));
}

export function systemCallNumber(name: string): number {
  const number = SYSTEM_CALLS.get(process.arch)?.numbers.get(name);
  if (number === undefined) {
    throw new Error(`This machine has no system call ${name}.`);
  }
  return number;
}
