import { createHash } from "node:crypto";
import { lstat, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makePrivateDirectory } from "./cluster.ts";
import type { ClusterPlace } from "./cluster-place.ts";
import { PostgresStartError } from "./start-error.ts";

export const SOCKET_PORT = 5432;

/** sun_path has 108 bytes on Linux and 104 on macOS, including the final zero. */
const MAX_SOCKET_PATH_BYTES = process.platform === "linux" ? 107 : 103;
const SOCKET_NAME = `.s.PGSQL.${SOCKET_PORT}`;
const HASH_LENGTH = 16;

/**
 * The directory of the socket: beside the database, or in the temporary directory when that path is too long. No
 * server of ours runs when this is called, so a socket and its lock file are leftovers. PostgreSQL would trust them
 * if another process had their process id.
 */
export async function prepareSocketDirectory(place: ClusterPlace): Promise<string> {
  const beside = join(place.home, "postgres.socket");
  const isShort = Buffer.byteLength(join(beside, SOCKET_NAME)) <= MAX_SOCKET_PATH_BYTES;
  const directory = isShort ? beside : temporaryDirectory(place.cluster);
  await refuseForeign(directory, place.account.uid);
  await makePrivateDirectory(directory, place.account);
  await rm(join(directory, SOCKET_NAME), { force: true });
  await rm(join(directory, `${SOCKET_NAME}.lock`), { force: true });
  return directory;
}

function temporaryDirectory(cluster: string): string {
  const hash = createHash("sha256").update(cluster).digest("hex").slice(0, HASH_LENGTH);
  return join(tmpdir(), `errand-${hash}`);
}

/**
 * Every user can write to the temporary directory, so another user could create our directory first and answer on our
 * socket.
 */
async function refuseForeign(directory: string, uid: number): Promise<void> {
  const found = await lstat(directory).catch(() => undefined);
  if (found && (found.uid !== uid || !found.isDirectory())) {
    throw new PostgresStartError(
      `The directory for the database's socket, ${directory}, belongs to another user: remove it, or use a shorter ERRAND_DATA_DIR`,
    );
  }
}
