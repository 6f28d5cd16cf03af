import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isOrphan } from "../linux-processes.ts";

/** Short, because it contains sockets, and the kernel accepts at most 107 characters in the path of a socket. */
const FOLDER = "sandboxes";
const NAME_BYTES = 4;

const MARKER_FILE = "owner";

/** Creates a directory for the files of one container. */
export async function makeContainerFolder(dataDir: string, marker: string): Promise<string> {
  const folder = join(dataDir, FOLDER, randomBytes(NAME_BYTES).toString("hex"));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, MARKER_FILE), marker);
  return folder;
}

/** Removes what killed workers left. */
export async function sweepContainerFolders(dataDir: string): Promise<void> {
  const folders = (await readdir(join(dataDir, FOLDER)).catch(() => [])).map((name) =>
    join(dataDir, FOLDER, name),
  );
  for (const folder of folders) {
    const marker = await readFile(join(folder, MARKER_FILE), "utf8").catch(() => "");
    if (await isOrphan(marker, dataDir)) {
      await rm(folder, { recursive: true, force: true });
    }
  }
}
