import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const GENERATED = "src/storage/generated";

/**
 * Lists the files of the committed client that differ from what the schema generates, including missing and
 * superfluous files.
 */
export async function listStaleFiles(root: string): Promise<readonly string[]> {
  const copy = await mkdtemp(join(tmpdir(), "errand-client-"));
  try {
    await mkdir(join(copy, "prisma"));
    await cp(join(root, "prisma/schema.prisma"), join(copy, "prisma/schema.prisma"));
    await generateClient(copy, root);
    const expected = await readFiles(join(copy, GENERATED));
    const committed = await readFiles(join(root, GENERATED));
    const names = new Set([...expected.keys(), ...committed.keys()]);
    return [...names].filter((name) => expected.get(name) !== committed.get(name)).sort();
  } finally {
    await rm(copy, { recursive: true });
  }
}

/**
 * Generates the client of the schema in `folder`. Needed files are copied there from `root`, because the client
 * contains the schema with its relative paths, and the generator looks for its packages from there.
 */
export async function generateClient(folder: string, root: string): Promise<void> {
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  const environment = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: "/bin/false", CHECKPOINT_DISABLE: "1" };
  const program = join(root, "node_modules/prisma/build/index.js");
  const parameters = [program, "generate", "--schema", "prisma/schema.prisma"];
  await run(process.execPath, parameters, { cwd: folder, env: environment });
}

async function readFiles(folder: string): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  const entries = await readdir(folder, { recursive: true }).catch(() => []);
  for (const name of entries) {
    const content = await readFile(join(folder, name), "utf8").catch(() => undefined);
    if (content !== undefined) {
      files.set(name, content);
    }
  }
  return files;
}
