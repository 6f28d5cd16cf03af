import { readFile } from "node:fs/promises";
import { askConfirm, readInput } from "./ask.ts";
import type { Cli } from "./cli.ts";
import { EXIT, Exit, UsageError } from "./failure.ts";

/** Reads a JSON file. `-` is standard input. */
export async function readJson(file: string): Promise<Readonly<Record<string, unknown>>> {
  const text = file === "-" ? await readInput() : await readText(file);
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) {
      return { ...value };
    }
  } catch {
    // The same message as for other values.
  }
  throw new UsageError(`The file ${file} does not contain a JSON object.`);
}

export async function readText(file: string): Promise<string> {
  return readFile(file, "utf8").catch((error: Error) => {
    throw new UsageError(`The file cannot be read: ${error.message}`);
  });
}

/** Reads `key=value`. */
export function pairOf(entry: string): readonly [key: string, value: string] {
  const at = entry.indexOf("=");
  if (at < 1) {
    throw new UsageError(`"${entry}" is not of the form key=value.`);
  }
  return [entry.slice(0, at), entry.slice(at + 1)];
}

/** Collects the values of an option that can be repeated. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** Reads a whole number from 1. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new UsageError(`"${text}" is not a whole number from 1.`);
  }
  return count;
}

/** The members that have a value. */
export function definedMembers<Members extends object>(
  members: Members,
): { [Name in keyof Members]?: NonNullable<Members[Name]> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never;
}

/** Asks whether to go on, unless the user has said so. */
export async function requireYes(cli: Cli, yes: boolean | undefined, question: string): Promise<void> {
  if (yes === true) {
    return;
  }
  if (!cli.isInteractive) {
    throw new UsageError("This needs your confirmation.", "Add --yes.");
  }
  if (!(await askConfirm(question))) {
    throw new Exit(EXIT.interrupted);
  }
}
