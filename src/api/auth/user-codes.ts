import { randomInt } from "node:crypto";

/** Letters that are neither vowels, which could form words, nor look like digits. */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const LENGTH = 8;

/** Returns a new code that a person can type: `BCDF-GHJK`. */
export function newUserCode(): string {
  const letters = Array.from({ length: LENGTH }, () => LETTERS.charAt(randomInt(LETTERS.length)));
  return `${letters.slice(0, LENGTH / 2).join("")}-${letters.slice(LENGTH / 2).join("")}`;
}

/** Returns the code as it was made, however it was typed. Undefined if it cannot be one. */
export function parseUserCode(input: unknown): string | undefined {
  if (typeof input !== "string" || input.length > 100) {
    return undefined;
  }
  const letters = input.toUpperCase().replaceAll(/[^A-Z]/g, "");
  return letters.length === LENGTH
    ? `${letters.slice(0, LENGTH / 2)}-${letters.slice(LENGTH / 2)}`
    : undefined;
}
