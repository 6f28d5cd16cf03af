import { randomUUID } from "node:crypto";
import { access, chmod, cp, mkdir, readdir, rename, rm, symlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { findMissingLinks, type PostgresPackage } from "./postgres-package.ts";
import { PostgresStartError } from "./start-error.ts";

const READABLE_BY_ALL = 0o755;

/** The package in a place that every account can read. It is copied at most once per version. */
export async function copyPackage(pack: PostgresPackage, sharedDir: string): Promise<PostgresPackage> {
  const target = join(sharedDir, `postgresql-${pack.version}`);
  const copy = { native: join(target, "native"), version: pack.version };
  if (await exists(copy.native)) {
    return copy;
  }
  try {
    await copyInto(target, pack.native);
  } catch (cause) {
    if (!(await exists(copy.native))) {
      throw new PostgresStartError(
        `The embedded PostgreSQL lies where the user it must run as cannot read it, and cannot be copied to ${sharedDir}: start Errand as an ordinary user, move it out of root's home, or set DATABASE_URL`,
        { cause },
      );
    }
  }
  return copy;
}

/** Two processes may copy at once. Each uses its own name, and the first to rename wins. */
async function copyInto(target: string, native: string): Promise<void> {
  const draft = `${target}.${randomUUID()}`;
  try {
    await mkdir(dirname(target), { recursive: true });
    await chmod(dirname(target), READABLE_BY_ALL);
    await cp(native, join(draft, "native"), { recursive: true, verbatimSymlinks: true });
    await addMissingLinks(join(draft, "native"));
    await makeReadable(draft);
    await rename(draft, target);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function addMissingLinks(native: string): Promise<void> {
  for (const { source, target } of await findMissingLinks(native)) {
    await symlink(basename(source), join(dirname(native), target));
  }
}

/** root's umask may have made the copy unreadable for other accounts. */
async function makeReadable(directory: string): Promise<void> {
  await chmod(directory, READABLE_BY_ALL);
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) {
      await chmod(join(entry.parentPath, entry.name), READABLE_BY_ALL);
    }
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
