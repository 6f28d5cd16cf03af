import { execFile } from "node:child_process";
import { statfs } from "node:fs/promises";
import { KIBIBYTE } from "../core/byte-units.ts";

const OUTPUT_MAX = 1_024;

/**
 * The space that a file tree takes, by `du`, because a walk in this process would delay everything else. 0 if it does not
 * exist. Files may appear and disappear meanwhile, and some may be unreadable: then it is the size of the rest.
 */
export function diskSizeOf(path: string): Promise<number> {
  return new Promise((resolve) => {
    execFile("du", ["-sk", path], { maxBuffer: OUTPUT_MAX * KIBIBYTE }, (_error, stdout) => {
      resolve((Number.parseInt(stdout, 10) || 0) * KIBIBYTE);
    });
  });
}

export async function freeBytesOf(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}
