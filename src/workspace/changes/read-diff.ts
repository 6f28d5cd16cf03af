import type { RepositoryDiff } from "../../core/ports/change-tracker.ts";
import { readFileList } from "./read-file-list.ts";
import type { ScriptEnd } from "./sandboxed-script.ts";

const HEAD = /^(\d{1,9}) (\d{1,7}) (\d{1,7}) (\d{1,7})\n/;
const HEAD_BYTES = 40;
const NEXT_FILE = "\ndiff --git ";

export interface FoundDiff extends Omit<RepositoryDiff, "repository" | "base"> {
  /** What is not in the patch: a reason, a space and a path. */
  readonly left: readonly string[];
}

/** The output of the script. Undefined: it is malformed. */
export function readDiff({ exit, output }: ScriptEnd, maxBytes: number): FoundDiff | undefined {
  const head = HEAD.exec(output.subarray(0, HEAD_BYTES).toString("latin1"));
  const isWhole = typeof exit === "object" && exit.code === 0;
  if (head === null || (!isWhole && exit !== "cut")) {
    return undefined;
  }
  const [line, files, namesLength, linesLength, leftLength] = head;
  const linesAt = line.length + Number(namesLength);
  const leftAt = linesAt + Number(linesLength);
  const patchAt = leftAt + Number(leftLength);
  const all = output.subarray(patchAt);
  const isTooLong = all.length > maxBytes || !isWhole;
  const patch = isTooLong ? wholeFiles(all.subarray(0, maxBytes)) : all;
  return {
    patch,
    isCut: isTooLong,
    filesChanged: Number(files),
    files: readFileList(output.subarray(line.length, linesAt), output.subarray(linesAt, leftAt)),
    left: output.subarray(leftAt, patchAt).toString("utf8").split("\0").slice(0, -1),
  };
}

/** Drops the last file, which is incomplete, unless it is the only one. */
function wholeFiles(patch: Buffer): Buffer {
  const last = patch.lastIndexOf(NEXT_FILE);
  return last < 0 ? patch : patch.subarray(0, last + 1);
}
