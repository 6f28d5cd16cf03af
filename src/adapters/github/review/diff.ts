import { z } from "zod";
import type { CallRepository } from "../routes.ts";

const PAGE_LENGTH = 100;
/** GitHub lists at most 3,000 files. */
const PAGES_MAX = 30;
const HUNK = /^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@/;

const filesAnswer = z.array(z.object({ filename: z.string(), patch: z.string().nullish() }));

/** The first and the last line of a part of a file in its new version. */
interface LineRange {
  readonly first: number;
  readonly last: number;
}

/** The lines of a pull request to which comments can be attached, by file. */
export type Diff = ReadonlyMap<string, readonly LineRange[]>;

export async function readDiff(call: CallRepository, number: number): Promise<Diff> {
  const diff = new Map<string, readonly LineRange[]>();
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const files = await call({
      route: "GET /repos/{owner}/{repo}/pulls/{pull_number}/files",
      parameters: { pull_number: number, per_page: PAGE_LENGTH, page },
      answer: filesAnswer,
    });
    for (const { filename, patch } of files) {
      diff.set(filename, hunksOf(patch ?? ""));
    }
    if (files.length < PAGE_LENGTH) {
      break;
    }
  }
  return diff;
}

/** Whether GitHub takes a comment on these lines: they are in one part of the diff. */
export function isInDiff(
  diff: Diff,
  {
    line,
    path,
    startLine = line,
  }: { readonly path: string; readonly line?: number; readonly startLine?: number },
): boolean {
  const ranges = diff.get(path) ?? [];
  return (
    line !== undefined &&
    startLine !== undefined &&
    ranges.some(({ first, last }) => first <= startLine && line <= last)
  );
}

/** All lines of the new version that a part shows can have comments, changed or not. */
function hunksOf(patch: string): readonly LineRange[] {
  return patch.split("\n").flatMap((text) => {
    const [, start, length = "1"] = HUNK.exec(text) ?? [];
    const first = Number(start);
    return start === undefined || length === "0" ? [] : [{ first, last: first + Number(length) - 1 }];
  });
}
