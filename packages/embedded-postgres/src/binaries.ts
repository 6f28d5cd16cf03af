import { chmod, mkdir, rm, symlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { copyPackage } from "./package-copy.ts";
import {
  findMissingLinks,
  locatePostgresPackage,
  type PostgresPackage,
  readPackedLinks,
} from "./postgres-package.ts";
import type { StartProgram } from "./programs.ts";
import { accountMay, type ServerAccount } from "./server-account.ts";

/** The programs of PostgreSQL, and the environment in which they find their libraries. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  readonly majorVersion: string;
  readonly environment: Readonly<Record<string, string>>;
}

interface BinariesOptions {
  readonly sharedDir: string;
  readonly linksDir: string;
  readonly startProgram: StartProgram;
}

const READABLE_BY_ALL = 0o755;

/**
 * Makes the package usable without writing into node_modules. Two problems can make it unusable:
 *
 * - The account of the server cannot read it (a clone below /root): it is copied to `sharedDir`, once per version.
 * - npm skipped its install script, which makes the links between library versions (npm's `ignore-scripts`; pnpm and
 * newer npm skip by default): the links are made in `linksDir`, and the loader gets that path.
 */
export async function prepareBinaries(
  account: ServerAccount,
  { sharedDir, linksDir, startProgram }: BinariesOptions,
): Promise<PostgresBinaries> {
  const pack = await locatePostgresPackage();
  if (!(await isUsableBy(account, pack.native, startProgram))) {
    return describeBinaries(await copyPackage(pack, sharedDir), []);
  }
  if ((await findMissingLinks(pack.native)).length === 0) {
    return describeBinaries(pack, []);
  }
  await makeLinks(pack.native, linksDir);
  return describeBinaries(pack, [linksDir, join(pack.native, "lib")]);
}

function describeBinaries(pack: PostgresPackage, libraryPath: readonly string[]): PostgresBinaries {
  const variable = process.platform === "darwin" ? "DYLD_LIBRARY_PATH" : "LD_LIBRARY_PATH";
  return {
    initdb: join(pack.native, "bin", "initdb"),
    postgres: join(pack.native, "bin", "postgres"),
    majorVersion: pack.version.split(".", 1)[0] ?? pack.version,
    environment: libraryPath.length > 0 ? { [variable]: libraryPath.join(":") } : {},
  };
}

async function isUsableBy(
  account: ServerAccount,
  native: string,
  startProgram: StartProgram,
): Promise<boolean> {
  const data = join(native, "share", "postgresql", "postgres.bki");
  const runs = await accountMay(account, "execute", join(native, "bin", "postgres"), startProgram);
  return runs && (await accountMay(account, "read", data, startProgram));
}

/** Created at each start, because node_modules may have moved. */
async function makeLinks(native: string, linksDir: string): Promise<void> {
  await rm(linksDir, { recursive: true, force: true });
  await mkdir(linksDir, { recursive: true });
  await chmod(linksDir, READABLE_BY_ALL);
  for (const { source, target } of await readPackedLinks(native)) {
    await symlink(join(dirname(native), source), join(linksDir, basename(target)));
  }
}
