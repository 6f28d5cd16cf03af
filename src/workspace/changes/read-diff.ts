import { defined } from "../../core/basics/defined.ts";
import type { ChangedFile } from "../../core/model/workspaces/repository-changes.ts";
import type { RepositoryDiff } from "../../core/ports/change-tracker.ts";
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

/** The most files that are listed. */
const FILES_MAX = 3_000;
const LINES = /^(\d{1,15}|-)\t(\d{1,15}|-)\t(.*)$/s;
const STATUSES: Readonly<Record<string, ChangedFile["status"]>> = {
  A: "added",
  D: "deleted",
  R: "renamed",
};

type Lines = Pick<ChangedFile, "additions" | "deletions">;

/**
 * The changed files from the outputs of `git diff-tree -z` with `--name-status` and `--numstat`. An entry that was cut
 * is left out.
 */
function readFileList(names: Buffer, lines: Buffer): readonly ChangedFile[] {
  const counts = readLines(fieldsOf(lines));
  const fields = fieldsOf(names);
  const files: ChangedFile[] = [];
  for (let at = 0; at < fields.length && files.length < FILES_MAX; ) {
    const status = STATUSES[fields[at]?.[0] ?? ""] ?? "modified";
    const length = status === "renamed" ? 3 : 2;
    const [, first, second] = fields.slice(at, at + length);
    const path = status === "renamed" ? second : first;
    const count = path === undefined ? undefined : counts.get(path);
    if (path !== undefined && count !== undefined) {
      files.push({
        path,
        ...defined({ oldPath: status === "renamed" && first ? first : undefined }),
        status,
        ...count,
      });
    }
    at += length;
  }
  return files;
}

/** By the new path. A renamed file has its two paths in fields of their own. */
function readLines(fields: readonly string[]): ReadonlyMap<string, Lines> {
  const counts = new Map<string, Lines>();
  for (let at = 0; at < fields.length; at += 1) {
    const [, added = "", deleted = "", inline = ""] = LINES.exec(fields[at] ?? "") ?? [];
    const path = inline === "" ? fields[at + 2] : inline;
    at += inline === "" ? 2 : 0;
    if (path !== undefined) {
      counts.set(path, { additions: numberOf(added), deletions: numberOf(deleted) });
    }
  }
  return counts;
}

function numberOf(text: string): number | null {
  return text === "-" || text === "" ? null : Number(text);
}

/** Each field ends with NUL, so what follows the last one was cut. */
function fieldsOf(output: Buffer): readonly string[] {
  return output.toString("utf8").split("\0").slice(0, -1);
}
