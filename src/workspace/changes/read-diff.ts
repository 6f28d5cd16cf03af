import type { RepositoryDiff } from "../../core/workspaces/change-tracker.ts";
import { readFileList } from "./read-file-list.ts";
import type { ScriptEnd } from "./sandboxed-script.ts";

const HEAD = /^(\d{1,9}) ([01]) (\d{1,7}) (\d{1,7})\n/;
const HEAD_BYTES = 40;
const NEXT_FILE = "\ndiff --git ";

/** The output of the script. Undefined: it is malformed. */
export function readDiff(
  { exit, output }: ScriptEnd,
  maxBytes: number,
): Omit<RepositoryDiff, "repository" | "base"> | undefined {
  const head = HEAD.exec(output.subarray(0, HEAD_BYTES).toString("latin1"));
  const isWhole = typeof exit === "object" && exit.code === 0;
  if (head === null || (!isWhole && exit !== "cut")) {
    return undefined;
  }
  const [line, files, left, namesLength, linesLength] = head;
  const linesAt = line.length + Number(namesLength);
  const patchAt = linesAt + Number(linesLength);
  const all = output.subarray(patchAt);
  const isTooLong = all.length > maxBytes || !isWhole;
  const patch = isTooLong ? wholeFiles(all.subarray(0, maxBytes)) : all;
  return {
    patch,
    isCut: isTooLong || left === "1",
    filesChanged: Number(files),
    files: readFileList(output.subarray(line.length, linesAt), output.subarray(linesAt, patchAt)),
  };
}

/** Drops the last file, which is incomplete, unless it is the only one. */
function wholeFiles(patch: Buffer): Buffer {
  const last = patch.lastIndexOf(NEXT_FILE);
  return last < 0 ? patch : patch.subarray(0, last + 1);
}
