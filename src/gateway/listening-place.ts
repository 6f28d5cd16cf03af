import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import type { Server } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Where a gateway listens. */
export interface ListeningPlace {
  /** The port that processes of the sandbox use. */
  readonly port: number;
  readonly socketPath?: string;
  remove(): Promise<void>;
}

/** The port inside the sandbox, below the range that systems use for outgoing connections. */
const SANDBOX_PORT = 21_721;
/** The limit for the path of a unix socket. macOS has the smallest one. */
const PATH_BYTES_MAX = 103;
const SOCKET = "s";

export async function listenOnPort(server: Server): Promise<ListeningPlace> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") {
    throw new Error("The gateway has no port.");
  }
  return { port: address.port, remove: async () => undefined };
}

/**
 * Creates a directory for one socket, which the sandbox gets as a whole. Any user can enter it and use the socket,
 * because the user of a container differs. The directory above it keeps the other users of the machine out.
 */
export async function listenOnSocket(server: Server, root: string): Promise<ListeningPlace> {
  const directory = await makeDirectory(root);
  const socketPath = join(directory, "gw", SOCKET);
  await mkdir(dirname(socketPath));
  await chmod(dirname(socketPath), 0o711);
  server.listen(socketPath);
  await once(server, "listening");
  await chmod(socketPath, 0o666);
  return { port: SANDBOX_PORT, socketPath, remove: () => rm(directory, { recursive: true, force: true }) };
}

/** Private to its owner. In another place if the path would be too long for a socket. */
async function makeDirectory(root: string): Promise<string> {
  const directory = join(root, randomBytes(4).toString("hex"));
  if (Buffer.byteLength(join(directory, "gw", SOCKET)) > PATH_BYTES_MAX) {
    return mkdtemp(join(tmpdir(), "errand-"));
  }
  await mkdir(directory, { recursive: true, mode: 0o700 });
  return directory;
}
