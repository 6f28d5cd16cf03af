import { createHash } from "node:crypto";
import { chmod, chown, lstat, mkdir, readlink, rename, stat, symlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Log } from "./log.ts";
import type { StartProgram } from "./programs.ts";
import { accountMay, chooseServerAccount, type Owner, type ServerAccount } from "./server-account.ts";
import { PostgresStartError } from "./start-error.ts";

const PERMISSIONS_OF_OTHERS = 0o077;
const ENTER_BY_GROUP = 0o010;
const OPEN_DIRECTORY = 0o755;
const HASH_LENGTH = 16;

/** Where the database is, and its owner. `home` contains it and its files. */
export interface ClusterPlace {
  readonly account: ServerAccount;
  readonly home: string;
  readonly cluster: string;
}

/**
 * `<dataDir>/postgres` always leads to the database. Usually it is the directory itself. If we are root and the data
 * directory is below one that no other account can enter (`/root/.errand`), PostgreSQL refuses to run there. Then the
 * database is in `<sharedDir>/<hash of the data directory>/postgres`, and `<dataDir>/postgres` is a link to it. From
 * then on the link decides: a data directory that was moved keeps its database, and one that was deleted and created
 * again does not find the old database (which is moved aside, never deleted).
 * A data directory that is closed to others is opened to the account's group for entering, not for listing.
 */
export async function placeCluster(
  dataDir: string,
  sharedDir: string,
  startProgram: StartProgram,
): Promise<ClusterPlace> {
  const cluster = await followLink(join(dataDir, "postgres"));
  const owner = await findOwner(cluster);
  const account = await chooseServerAccount(owner);
  if (cluster !== join(dataDir, "postgres") || account.isOurs) {
    return { account, home: dirname(cluster), cluster };
  }
  await letEnter(dataDir, account, startProgram);
  if (await accountMay(account, "execute", dataDir, startProgram)) {
    return { account, home: dataDir, cluster };
  }
  return placeElsewhere(dataDir, sharedDir, account);
}

/** Done after the database is created, so that a failed start leaves no dangling link. */
export async function linkCluster(dataDir: string, place: ClusterPlace, log: Log): Promise<void> {
  if (await isUnlinked(dataDir, place)) {
    await symlink(place.cluster, join(dataDir, "postgres"));
    log.info("storage.postgres.placed_elsewhere", { dataDir, cluster: place.cluster });
  }
}

/** A database in our place without a link to it belongs to a data directory that was deleted. */
export async function setStrangerAside(dataDir: string, place: ClusterPlace, log: Log): Promise<void> {
  if ((await isUnlinked(dataDir, place)) && (await findOwner(place.cluster))) {
    const aside = `${place.cluster}.${new Date().toISOString()}`;
    await rename(place.cluster, aside);
    log.warn("storage.postgres.set_aside", { dataDir, aside });
  }
}

async function isUnlinked(dataDir: string, place: ClusterPlace): Promise<boolean> {
  const link = join(dataDir, "postgres");
  return place.cluster !== link && (await findOwner(link)) === undefined;
}

async function followLink(path: string): Promise<string> {
  const link = await readlink(path).catch(() => undefined);
  if (link === undefined) {
    return path;
  }
  const target = resolve(dirname(path), link);
  await stat(target).catch((cause: unknown) => {
    throw new PostgresStartError(
      `The embedded database of this data directory is not readable or gone (${path} points to ${target}): bring it back, or delete the link to begin anew`,
      { cause },
    );
  });
  return target;
}

async function findOwner(cluster: string): Promise<Owner | undefined> {
  const found = await lstat(cluster).catch(() => undefined);
  return found && { uid: found.uid, gid: found.gid };
}

async function letEnter(dataDir: string, account: ServerAccount, startProgram: StartProgram): Promise<void> {
  const { uid, mode } = await stat(dataDir);
  const isPrivate = (mode & PERMISSIONS_OF_OTHERS) === 0;
  if (isPrivate && (await accountMay(account, "execute", dirname(dataDir), startProgram))) {
    await chown(dataDir, uid, account.gid);
    await chmod(dataDir, mode | ENTER_BY_GROUP);
  }
}

async function placeElsewhere(
  dataDir: string,
  sharedDir: string,
  account: ServerAccount,
): Promise<ClusterPlace> {
  if (await findOwner(join(dataDir, "postgres"))) {
    throw new PostgresStartError(
      `The embedded database in ${dataDir} cannot be entered by its owner, user ${account.uid}: open the directories above it for entering (chmod o+x), or set DATABASE_URL`,
    );
  }
  const hash = createHash("sha256").update(dataDir).digest("hex").slice(0, HASH_LENGTH);
  const home = join(sharedDir, hash);
  await makeHome(home);
  return { account, home, cluster: join(home, "postgres") };
}

async function makeHome(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
    await chmod(dirname(path), OPEN_DIRECTORY);
    await chmod(path, OPEN_DIRECTORY);
  } catch (cause) {
    throw new PostgresStartError(
      `PostgreSQL does not run as root, no other user can enter the data directory, and ${path} cannot be made: set ERRAND_DATA_DIR to a directory outside of root's home, or set DATABASE_URL`,
      { cause },
    );
  }
}
