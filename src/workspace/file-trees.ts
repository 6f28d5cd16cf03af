import { chmod, lstat, mkdir, rm } from "node:fs/promises";
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

const COPY_MS = 600_000;
const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** Shares blocks where the file system can do that, but never files. */
const COPY = process.platform === "linux" ? ["-a", "--reflink=auto"] : ["-pPR"];

/** Copies directories into another one. Links stay links; modes and times are kept. */
export async function copyInto(directory: string, sources: readonly string[]): Promise<void> {
  const options = { timeoutMs: COPY_MS, env: { PATH: SYSTEM_PATH, LC_ALL: "C" } };
  await runProgram("cp", [...COPY, "--", ...sources, directory], options);
}

/** Creates our directory in a place where an agent may have put anything. */
export async function makeDirectory(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found !== undefined && !found.isDirectory()) {
    await rm(path);
  }
  await mkdir(path, { recursive: true, mode: 0o700 });
  await chmod(path, 0o700);
}

/** Whether it is a plain name without path components. */
export function isName(part: string): boolean {
  return !["", ".", ".."].includes(part);
}
