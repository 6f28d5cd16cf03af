import { randomInt } from "node:crypto";
import type { Clock } from "../../core/basics/clock.ts";
import type { Storage } from "../../core/ports/stores/storage.ts";
import { DeviceCodeService } from "../../core/team/keys/device-code-service.ts";
import { type KeyHasher, makeKey } from "./api-keys.ts";

/** The service on the stores of one transaction. */
export function deviceCodesOn(
  { clock, hashKey }: { readonly clock: Clock; readonly hashKey: KeyHasher },
  storage: Storage,
): DeviceCodeService {
  return new DeviceCodeService({ storage, clock, makeKey: () => makeKey(hashKey) });
}

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
