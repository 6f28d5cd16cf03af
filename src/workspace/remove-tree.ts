import { lstat, rm } from "node:fs/promises";
import { runProgram } from "../child-process/run-program.ts";

const REMOVE_MS = 600_000;

/**
 * Also removes read-only directories, such as those of Go's module cache, and paths that are too long for one call of the
 * system. The programs do not follow links.
 */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    const options = { timeoutMs: REMOVE_MS };
    if ((await lstat(path)).isDirectory()) {
      await runProgram("chmod", ["-R", "u+rwx", "--", path], options);
    }
    await runProgram("rm", ["-rf", "--", path], options);
  }
}
