import type { PrincipalId } from "../../basics/ids.ts";
import type { TeamRecord } from "../people/team-record.ts";

/** What policies and routing rules have in common: the first one that matches decides. */
export interface Rule extends TeamRecord {
  /** Unique in the team. */
  readonly name: string;
  /** The lowest number comes first; of equal ones, the oldest. */
  readonly priority: number;
  readonly enabled: boolean;
  readonly creatorId: PrincipalId;
}

/** The enabled rules, in the order in which they are evaluated. */
export function inOrder<R extends Rule>(rules: readonly R[]): readonly R[] {
  return rules.filter(({ enabled }) => enabled).toSorted(byOrder);
}

export function byOrder(a: Rule, b: Rule): number {
  return a.priority - b.priority || a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1);
}

/** Whether `value` is in the list of a condition. Without a list the condition always holds. */
export function isAmong<T>(wanted: readonly T[] | undefined, value: T | undefined): boolean {
  return wanted === undefined || (value !== undefined && wanted.includes(value));
}

/** Whether one of the globs matches: `*` stands for any characters, and case does not matter. */
export function matchesOneGlob(globs: readonly string[] | undefined, text: string | undefined): boolean {
  return globs === undefined || (text !== undefined && globs.some((glob) => isLike(glob, text)));
}

/** Whether the text contains one of the words or phrases, in any case. */
export function containsOne(words: readonly string[] | undefined, text: string): boolean {
  return words === undefined || words.some((word) => wholeWord(word).test(text));
}

/** This uses no regular expression, because one with many `*` could run for ever. */
function isLike(glob: string, text: string): boolean {
  const [first = "", ...others] = glob.toLowerCase().split("*");
  const said = text.toLowerCase();
  const last = others.pop();
  if (last === undefined) {
    return said === first;
  }
  if (!said.startsWith(first) || said.length < first.length + last.length || !said.endsWith(last)) {
    return false;
  }
  let offset = first.length;
  for (const piece of others) {
    const found = said.indexOf(piece, offset);
    if (found === -1 || found + piece.length > said.length - last.length) {
      return false;
    }
    offset = found + piece.length;
  }
  return true;
}

function wholeWord(word: string): RegExp {
  const literal = word
    .trim()
    .replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")
    .replace(/\s+/g, "\\s+");
  return new RegExp(`(?<![\\p{L}\\p{N}_])${literal}(?![\\p{L}\\p{N}_])`, "iu");
}
