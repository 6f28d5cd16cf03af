import { access, constants, readFile } from "node:fs/promises";
import { outputOf, ProgramError, type StartProgram } from "./programs.ts";
import { PostgresStartError } from "./start-error.ts";

const ROOT = 0;
/** In this order: the account of a PostgreSQL package, or the one that every system has. */
const SERVER_ACCOUNT_NAMES = ["postgres", "nobody"] as const;

/** The account of the server. PostgreSQL refuses to run as root, so root uses another account. */
export type ServerAccount = Owner & { readonly isOurs: boolean };

export type Owner = { readonly uid: number; readonly gid: number };

/** What a path must allow: entering it (a directory) or running it (a program), or reading it. */
export type Permission = "execute" | "read";

/**
 * Prefers the owner of an existing database, so that an account from a PostgreSQL package installed later does not
 * lock us out.
 */
export async function chooseServerAccount(owner: Owner | undefined): Promise<ServerAccount> {
  const uid = process.getuid?.() ?? ROOT;
  if (uid !== ROOT) {
    return ourAccount(uid, owner);
  }
  if (owner && owner.uid !== ROOT) {
    return { ...owner, isOurs: false };
  }
  const accounts = parseAccounts(await readFile("/etc/passwd", "utf8").catch(() => ""));
  for (const name of SERVER_ACCOUNT_NAMES) {
    const account = accounts.get(name);
    if (account) {
      return { ...account, isOurs: false };
    }
  }
  throw new PostgresStartError(
    "PostgreSQL does not run as root and this system has neither a user postgres nor nobody: start Errand as an ordinary user, or set DATABASE_URL",
  );
}

/** The options of `spawn` that make a child run under the account. */
export function identityOf(account: ServerAccount): { uid?: number; gid?: number } {
  return account.isOurs ? {} : { uid: account.uid, gid: account.gid };
}

/**
 * Tried instead of computed from mode bits, so that the kernel evaluates access lists, user namespaces and network
 * file systems.
 */
export async function accountMay(
  account: ServerAccount,
  permission: Permission,
  path: string,
  startProgram: StartProgram,
): Promise<boolean> {
  if (account.isOurs) {
    const mode = permission === "read" ? constants.R_OK : constants.X_OK;
    return access(path, mode).then(
      () => true,
      () => false,
    );
  }
  const script = permission === "read" ? 'test -r "$1"' : 'test -x "$1"';
  try {
    const options = { ...identityOf(account), cwd: "/", env: {} };
    await outputOf("/bin/sh", startProgram("/bin/sh", ["-c", script, "sh", path], options));
    return true;
  } catch (error) {
    return rejectUnlessExitCode(error, account);
  }
}

function rejectUnlessExitCode(error: unknown, account: ServerAccount): false {
  if (error instanceof ProgramError && error.exitCode !== null) {
    return false;
  }
  throw new PostgresStartError(
    `PostgreSQL does not run as root, and root may not start programs as user ${account.uid} here: start Errand as an ordinary user, or set DATABASE_URL`,
    { cause: error },
  );
}

function ourAccount(uid: number, owner: Owner | undefined): ServerAccount {
  if (owner && owner.uid !== uid) {
    throw new PostgresStartError(
      `The embedded database belongs to user ${owner.uid}, we are user ${uid}: start Errand as root or as that user, or use another ERRAND_DATA_DIR`,
    );
  }
  return { uid, gid: process.getgid?.() ?? uid, isOurs: true };
}

function parseAccounts(passwd: string): Map<string, Owner> {
  const accounts = new Map<string, Owner>();
  for (const line of passwd.split("\n")) {
    const [name, , uid, gid] = line.split(":");
    if (name && uid && gid) {
      accounts.set(name, { uid: Number(uid), gid: Number(gid) });
    }
  }
  return accounts;
}
