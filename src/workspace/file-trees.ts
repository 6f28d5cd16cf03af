import { chmod, lstat, mkdir, rm } from "node:fs/promises";
import { runProgram } from "../child-process/run-program.ts";

const REMOVE_MS = 600_000;

/**
 * Also removes read-only directories, such as those of Go's module cache, and paths that are too long for one call of the
 * system. The programs do not follow links. Node's `rm` is not tried first: after its first error it goes on removing
 * other entries, and the programs would meet them.
 */
export async function removeTree(path: string): Promise<void> {
  const options = { timeoutMs: REMOVE_MS };
  const remove = () => runProgram("rm", ["-rf", "--", path], options);
  // Most calls are for paths where nothing is left from a former try: they start no program.
  const found = await lstat(path).catch((error: unknown) => (isMissing(error) ? undefined : error));
  if (found === undefined) {
    return;
  }
  try {
    await remove();
  } catch {
    if ((await lstat(path)).isDirectory()) {
      await runProgram("chmod", ["-R", "u+rwx", "--", path], options);
    }
    await remove();
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

/** Whether an error of the system says that nothing has this path. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

/** Whether it is a plain name without path components. */
export function isName(part: string): boolean {
  return !["", ".", ".."].includes(part);
}
