import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chooseServerAccount, identityOf, makePrivateDirectory } from "@errand/embedded-postgres/parts";
import { waitFor } from "./wait-for.ts";

const PROGRAM = "/usr/sbin/pgbouncer";
const PORT = 6432;
const ENTERABLE = 0o711;

export interface PgBouncer {
  /** The address of the same database through the pooler. */
  readonly url: string;
  stop(): Promise<void>;
}

export interface PgBouncerOptions {
  readonly databaseUrl: string;
  readonly mode: "session" | "transaction";
  /** What each new session of PostgreSQL is sent first. */
  readonly connectQuery?: string;
}

/** Why tests of PgBouncer are skipped here, or undefined. Where everything should be there, nothing is skipped. */
export function reasonToSkipPgBouncer(): string | undefined {
  try {
    execFileSync(PROGRAM, ["--version"], { stdio: "ignore" });
    return undefined;
  } catch (error) {
    if (process.env.CI === "true") {
      throw new Error("pgbouncer must be there where CI=true", { cause: error });
    }
    return "there is no pgbouncer";
  }
}

/** PgBouncer on a socket of its own, before one database of a server that is reached by a socket too. */
export async function startPgBouncer(options: PgBouncerOptions): Promise<PgBouncer> {
  const account = await chooseServerAccount(undefined);
  const folder = await mkdtemp(join(tmpdir(), "errand-pgbouncer-"));
  await chmod(folder, ENTERABLE);
  const sockets = join(folder, "sockets");
  await makePrivateDirectory(sockets, account);
  await chmod(sockets, ENTERABLE);
  const settings = join(folder, "pgbouncer.ini");
  await writeFile(settings, settingsOf(options, sockets));
  const child = spawn(PROGRAM, ["--quiet", settings], { ...identityOf(account), cwd: "/", stdio: "ignore" });
  const ended = once(child, "exit");
  const stop = async () => {
    child.kill("SIGKILL");
    await ended;
    await rm(folder, { recursive: true });
  };
  try {
    await waitFor(() => accepts(join(sockets, `.s.PGSQL.${PORT}`)), { what: "PgBouncer to listen" });
  } catch (error) {
    await stop();
    throw error;
  }
  const { pathname, username } = new URL(options.databaseUrl);
  const query = `host=${encodeURIComponent(sockets)}&sslmode=disable`;
  return { url: `postgresql://${username}@localhost:${PORT}${pathname}?${query}`, stop };
}

function settingsOf({ connectQuery, databaseUrl, mode }: PgBouncerOptions, sockets: string): string {
  const { pathname, port, searchParams, username } = new URL(databaseUrl);
  const target = `host=${searchParams.get("host")} port=${port} user=${username}`;
  const first = connectQuery === undefined ? "" : ` connect_query='${connectQuery.replaceAll("'", "''")}'`;
  return `[databases]
${pathname.slice(1)} = ${target}${first}
[pgbouncer]
listen_addr =
listen_port = ${PORT}
unix_socket_dir = ${sockets}
auth_type = any
pool_mode = ${mode}
default_pool_size = 5
`;
}

async function accepts(socket: string): Promise<boolean> {
  const connection = createConnection(socket);
  try {
    await once(connection, "connect");
    return true;
  } catch {
    return false;
  } finally {
    connection.destroy();
  }
}
