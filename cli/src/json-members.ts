import type { Command } from "commander";
import { UsageError } from "./failure.ts";

/** The members of the JSON that a command writes. A command that is not here writes any JSON. */
const KNOWN = new WeakMap<Command, readonly string[]>();
const LIST = /^[a-z_0-9]+(,[a-z_0-9]+)*$/;

/**
 * Says which members the JSON of a command has, so that others are refused before a request is sent. A group has those of
 * the command that it stands for.
 */
export function setMembers(command: Command, members: readonly string[]): Command {
  KNOWN.set(command, [...new Set(members)]);
  return command;
}

/** `--json` alone stands for all members, and `--json a,b` for these. Behind `--`, it is a text. */
export function withMembers(program: Command, words: readonly string[]): readonly string[] {
  const result: string[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? "";
    const next = words[index + 1] ?? "";
    if (word === "--") {
      return [...result, ...words.slice(index)];
    }
    const isChosen = word === "--json" && areMembers(next, commandIn(program, words.slice(0, index)));
    result.push(word === "--json" ? `--json=${isChosen ? next : "*"}` : word);
    index += isChosen ? 1 : 0;
  }
  return result;
}

/** The command that these words name. */
export function commandIn(program: Command, words: readonly string[]): Command {
  let command = program;
  for (const word of words) {
    command = command.commands.find((own) => own.name() === word || own.aliases().includes(word)) ?? command;
  }
  return command;
}

/** A word behind `--json` may also be the argument of the command, or a command of a group. */
function areMembers(word: string, command: Command): boolean {
  const known = KNOWN.get(command);
  if (!LIST.test(word) || (known === undefined && command.commands.length > 0)) {
    return false;
  }
  const isArgument =
    command.registeredArguments.length > 0 || command.commands.some((own) => own.name() === word);
  return !isArgument || word.includes(",") || (known ?? []).includes(word);
}

/** Refuses members that the JSON of the command does not have. */
export function requireMembers(command: Command, json: string | undefined): void {
  const members = KNOWN.get(command);
  if (json === undefined || json === "*" || members === undefined) {
    return;
  }
  for (const name of json.split(",").map((part) => part.trim())) {
    if (!members.includes(name)) {
      const near = nearest(name, members);
      throw new UsageError(
        `The JSON has no member "${name}".${near === undefined ? "" : ` Did you mean ${near}?`}`,
        `Members: ${members.join(", ")}`,
      );
    }
  }
}

function nearest(name: string, members: readonly string[]): string | undefined {
  const [first] = members
    .map((member) => ({ member, edits: editsBetween(name, member) }))
    .toSorted((left, right) => left.edits - right.edits);
  return first !== undefined && first.edits <= Math.max(2, name.length / 3) ? first.member : undefined;
}

/** How many characters must be inserted, removed or replaced (the Levenshtein distance). */
function editsBetween(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (const [index, character] of Array.from(left).entries()) {
    const next = [index + 1];
    for (let column = 1; column <= right.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (character === right[column - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
