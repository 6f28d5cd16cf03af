import { chmod, lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

const PRIVATE = 0o700;

/** Also removes read-only directories, such as those of Go's module cache. */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    await makeWritable(path);
    await rm(path, { recursive: true, force: true });
  }
}

async function makeWritable(directory: string): Promise<void> {
  if (!(await lstat(directory)).isDirectory()) {
    return;
  }
  await chmod(directory, PRIVATE);
  for (const entry of await readdir(directory)) {
    await makeWritable(join(directory, entry));
  }
}
