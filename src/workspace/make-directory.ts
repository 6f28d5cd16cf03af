import { chmod, lstat, mkdir, rm } from "node:fs/promises";

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
