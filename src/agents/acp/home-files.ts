import { lstat, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * Writes the files of a launch into the agent's home. An earlier turn may have left links there that lead outside. No
 * process that sees this home runs now, so a check before each step is enough.
 */
export async function writeHomeFiles(home: string, files: Readonly<Record<string, string>>): Promise<void> {
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
    if (found?.isDirectory()) {
      continue;
    }
    await rm(directory, { force: true });
    await mkdir(directory);
  }
}
