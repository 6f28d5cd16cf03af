import { defined } from "../../core/basics/defined.ts";
import type { ChangedFile } from "../../core/model/workspaces/repository-changes.ts";

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
export function readFileList(names: Buffer, lines: Buffer): readonly ChangedFile[] {
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
