import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import {
  type PostgresBinaries,
  prepareBinaries,
  type ServerAccount,
  spawnProgram,
} from "@errand/embedded-postgres/parts";

const run = promisify(execFile);
/** Where Debian and its derivatives keep each major version. */
const VERSIONS_FOLDER = "/usr/lib/postgresql";
const OLDEST_SUPPORTED = 15;

/**
 * The machine's PostgreSQL; on a machine without any, the embedded one. Prefers the oldest supported version, so that
 * the tests use another version than the embedded one.
 */
export async function findPostgresPrograms(
  account: ServerAccount,
  folder: string,
): Promise<PostgresBinaries> {
  for (const bin of [...(await listInstalled()), ...(process.env.PATH ?? "").split(delimiter)]) {
    const majorVersion = await findVersion(bin);
    if (Number(majorVersion) >= OLDEST_SUPPORTED) {
      return { initdb: join(bin, "initdb"), postgres: join(bin, "postgres"), majorVersion, environment: {} };
    }
  }
  return prepareBinaries(account, {
    sharedDir: folder,
    linksDir: join(folder, "libraries"),
    startProgram: spawnProgram,
  });
}

async function listInstalled(): Promise<readonly string[]> {
  const versions = (await readdir(VERSIONS_FOLDER).catch(() => [])).map(Number);
  return versions.sort((a, b) => a - b).map((version) => join(VERSIONS_FOLDER, String(version), "bin"));
}

/** Empty if the folder has no PostgreSQL, or only its client. */
async function findVersion(bin: string): Promise<string> {
  try {
    await run(join(bin, "initdb"), ["--version"]);
    const { stdout } = await run(join(bin, "postgres"), ["--version"]);
    return / (\d+)/.exec(stdout)?.[1] ?? "";
  } catch {
    return "";
  }
}
