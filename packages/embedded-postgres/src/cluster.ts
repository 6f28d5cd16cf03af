import { chmod, chown, mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { PostgresBinaries } from "./binaries.ts";
import type { ClusterPlace } from "./cluster-place.ts";
import { outputOf, ProgramError, type StartProgram } from "./programs.ts";
import { identityOf, type ServerAccount } from "./server-account.ts";
import { PostgresStartError } from "./start-error.ts";

/**
 * PostgreSQL's superuser in an embedded cluster. There is no password, because only we can enter the directory of the
 * socket.
 */
export const SUPERUSER = "errand";

const INITDB_OPTIONS = ["--auth=trust", "--encoding=UTF8", "--locale=C", "--no-instructions"] as const;
const PRIVATE_DIRECTORY = 0o700;

/**
 * Creates the database directory if there is none. It is created under another name and renamed when complete, so
 * that a start that was killed leaves nothing that looks like a database.
 */
export async function ensureCluster(
  place: ClusterPlace,
  binaries: PostgresBinaries,
  startProgram: StartProgram,
): Promise<void> {
  const found = await readFile(join(place.cluster, "PG_VERSION"), "utf8").catch(() => undefined);
  if (found === undefined) {
    return createCluster(place, binaries, startProgram);
  }
  if (found.trim() !== binaries.majorVersion) {
    throw new PostgresStartError(
      `The embedded database in ${place.cluster} was made by PostgreSQL ${found.trim()}, this Errand brings ${binaries.majorVersion}: dump it with the old Errand, or set DATABASE_URL`,
    );
  }
}

/** A directory that the server's account owns and that only it and root can enter. */
export async function makePrivateDirectory(path: string, account: ServerAccount): Promise<void> {
  await mkdir(path, { recursive: true, mode: PRIVATE_DIRECTORY });
  if (!account.isOurs) {
    await chown(path, account.uid, account.gid);
  }
  await chmod(path, PRIVATE_DIRECTORY);
}

async function createCluster(
  place: ClusterPlace,
  binaries: PostgresBinaries,
  startProgram: StartProgram,
): Promise<void> {
  refuseNamelessUser(place.account);
  const draft = `${place.cluster}.new`;
  await rm(draft, { recursive: true, force: true });
  await makePrivateDirectory(draft, place.account);
  await runInitdb(draft, place.account, binaries, startProgram);
  await rename(draft, place.cluster);
  await syncDirectory(place.home);
}

async function runInitdb(
  target: string,
  account: ServerAccount,
  binaries: PostgresBinaries,
  startProgram: StartProgram,
): Promise<void> {
  const parameters = ["-D", target, "-U", SUPERUSER, ...INITDB_OPTIONS];
  const environment = { ...binaries.environment, LC_ALL: "C", TZ: "UTC" };
  try {
    const options = { ...identityOf(account), cwd: "/", env: environment };
    await outputOf(binaries.initdb, startProgram(binaries.initdb, parameters, options));
  } catch (cause) {
    await rm(target, { recursive: true, force: true });
    throw new PostgresStartError(
      `The embedded PostgreSQL cannot make its database (${firstLine(cause)}): set DATABASE_URL to a PostgreSQL 15 or newer`,
      { cause },
    );
  }
}

/** initdb requires a user name, which a container with an arbitrary uid does not have. */
function refuseNamelessUser(account: ServerAccount): void {
  if (!account.isOurs) {
    return;
  }
  try {
    userInfo();
  } catch (cause) {
    throw new PostgresStartError(
      `The embedded PostgreSQL cannot make its database for user ${account.uid}, which has no entry in /etc/passwd: add one, or set DATABASE_URL`,
      { cause },
    );
  }
}

function firstLine(error: unknown): string {
  const output = error instanceof ProgramError ? error.stderr : "";
  const text = output.trim() || (error instanceof Error ? error.message : String(error));
  return text.split("\n", 1)[0] ?? text;
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path);
  await directory.sync().finally(() => directory.close());
}
