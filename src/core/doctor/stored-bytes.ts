import { type Check, ok } from "./check.ts";

/** What the database stores for runs. */
export const STORED_KINDS = [
  "checkpoints",
  "checkpoints_of_ended_runs",
  "inputs",
  "artifacts",
  "changes",
  "events",
] as const;
export type StoredKind = (typeof STORED_KINDS)[number];

/** Bytes of each kind. */
export type StoredBytes = Readonly<Record<StoredKind, number>>;

const MEBIBYTE = 2 ** 20;

/** How much the database stores for runs. It has no limit, so this finds no problem. */
export function storedBytesCheck(measure: () => Promise<StoredBytes>): Check {
  return {
    name: "stored_files",
    async run() {
      const stored = await measure();
      const figures = STORED_KINDS.map(
        (kind) => `${kind.replaceAll("_", " ")} ${mebibytes(stored[kind])} MiB`,
      );
      return ok(`In the database: ${figures.join(", ")}.`);
    },
  };
}

function mebibytes(bytes: number): string {
  return (bytes / MEBIBYTE).toFixed(1);
}
