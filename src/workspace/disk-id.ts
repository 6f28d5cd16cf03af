import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

const FILE = "disk-id";

/** The id of a data directory, by which runs find the worker that has their files. Made at the first call. */
export async function diskIdOf(dataDir: string): Promise<string> {
  const path = join(dataDir, FILE);
  return (await readFile(path, "utf8").catch(() => undefined)) ?? (await makeId(dataDir, path));
}

/** A link appears with its whole content, and another process may have been first. */
async function makeId(dataDir: string, path: string): Promise<string> {
  const id = crypto.randomUUID();
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await writeFile(`${path}.${id}`, id, { mode: 0o600 });
  await link(`${path}.${id}`, path).catch((error) => {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) {
      throw error;
    }
  });
  await rm(`${path}.${id}`);
  return readFile(path, "utf8");
}
