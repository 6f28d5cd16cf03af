import { lstat, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * Writes what a launch wants into the agent's home. The agent of an earlier turn may have laid links there that lead
 * out of it; no process of it runs now, so a look before each step is enough.
 */
export async function writeHomeFiles(
  home: string,
  files: Readonly<Record<string, string>> = {},
): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await makeDirectories(home, dirname(path));
    await rm(join(home, path), { recursive: true, force: true });
    await writeFile(join(home, path), text, { flag: "wx", mode: 0o644 });
  }
}

async function makeDirectories(home: string, path: string): Promise<void> {
  let directory = home;
  for (const part of path.split("/")) {
    directory = join(directory, part);
    const found = await lstat(directory).catch(() => undefined);
    if (found?.isDirectory()) continue;
    await rm(directory, { force: true });
    await mkdir(directory);
  }
}
