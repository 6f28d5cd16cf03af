import type { RepositoryDiff } from "../../core/workspaces/change-tracker.ts";
import type { ScriptEnd } from "./sandboxed-script.ts";

const HEAD = /^(\d{1,9}) ([01])\n/;
const HEAD_BYTES = 20;
const NEXT_FILE = "\ndiff --git ";

/** The output of the script. Undefined: it is malformed. */
export function readDiff(
  { exit, output }: ScriptEnd,
  maxBytes: number,
): Omit<RepositoryDiff, "repository"> | undefined {
  const head = HEAD.exec(output.subarray(0, HEAD_BYTES).toString("latin1"));
  const isWhole = typeof exit === "object" && exit.code === 0;
  if (head === null || (!isWhole && exit !== "cut")) {
    return undefined;
  }
  const [line, files, left] = head;
  const all = output.subarray(line.length);
  const isTooLong = all.length > maxBytes || !isWhole;
  const patch = isTooLong ? wholeFiles(all.subarray(0, maxBytes)) : all;
  return { patch, isCut: isTooLong || left === "1", filesChanged: Number(files) };
}

/** Drops the last file, which is incomplete, unless it is the only one. */
function wholeFiles(patch: Buffer): Buffer {
  const last = patch.lastIndexOf(NEXT_FILE);
  return last < 0 ? patch : patch.subarray(0, last + 1);
}
