import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import {
  locatePostgresPackage,
  type PostgresBinaries,
  prepareBinaries,
} from "../../src/storage/embedded/binaries.ts";
import type { ServerAccount } from "../../src/storage/embedded/server-account.ts";

const run = promisify(execFile);
/** Where Debian and its kin keep each major version. */
const VERSIONS_FOLDER = "/usr/lib/postgresql";
const OLDEST_SUPPORTED = 15;

/**
 * The machine's PostgreSQL, the oldest that we support first, so that the tests meet another version than the embedded
 * one; on a machine without any, the embedded one.
 */
export async function findPostgresPrograms(
  account: ServerAccount,
  folder: string,
): Promise<PostgresBinaries> {
  for (const bin of [...(await listInstalled()), ...(process.env.PATH ?? "").split(delimiter)]) {
    if (await hasSupportedVersion(bin)) {
      return { initdb: join(bin, "initdb"), postgres: join(bin, "postgres"), environment: {} };
    }
  }
  const directories = { sharedDir: folder, linksDir: join(folder, "libraries") };
  return prepareBinaries(await locatePostgresPackage(), account, directories);
}

async function listInstalled(): Promise<readonly string[]> {
  const versions = (await readdir(VERSIONS_FOLDER).catch(() => [])).map(Number);
  return versions.sort((a, b) => a - b).map((version) => join(VERSIONS_FOLDER, String(version), "bin"));
}

async function hasSupportedVersion(bin: string): Promise<boolean> {
  try {
    await run(join(bin, "initdb"), ["--version"]);
    const { stdout } = await run(join(bin, "postgres"), ["--version"]);
    return Number(/ (\d+)/.exec(stdout)?.[1]) >= OLDEST_SUPPORTED;
  } catch {
    return false;
  }
}
