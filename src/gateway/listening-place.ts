import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import type { Server } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Where a gateway is reached. */
export interface ListeningPlace {
  /** As processes of the sandbox see it. */
  readonly port: number;
  readonly socketPath?: string;
  remove(): Promise<void>;
}

/** Inside, the port is the sandbox's own, and below those that systems give to outgoing connections. */
const DOOR_PORT = 21_721;
/** Of a unix socket, on the systems we run on: macOS has the least. */
const PATH_BYTES_MAX = 103;
const SOCKET = "s";

export async function listenOnPort(server: Server): Promise<ListeningPlace> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The gateway has no port.");
  return { port: address.port, remove: async () => undefined };
}

/**
 * A directory for one socket, which the sandbox can be given whole. It is entered and the socket used by any user, as
 * that of a container is another; what keeps the machine's other users out is the directory above it.
 */
export async function listenOnSocket(server: Server, root: string): Promise<ListeningPlace> {
  const directory = await makeDirectory(root);
  const socketPath = join(directory, "gw", SOCKET);
  await mkdir(dirname(socketPath));
  await chmod(dirname(socketPath), 0o711);
  server.listen(socketPath);
  await once(server, "listening");
  await chmod(socketPath, 0o666);
  return { port: DOOR_PORT, socketPath, remove: () => rm(directory, { recursive: true, force: true }) };
}

/** For its owner alone. Elsewhere, where the path would be too long for a socket. */
async function makeDirectory(root: string): Promise<string> {
  const directory = join(root, randomBytes(4).toString("hex"));
  if (Buffer.byteLength(join(directory, "gw", SOCKET)) > PATH_BYTES_MAX) {
    return mkdtemp(join(tmpdir(), "errand-"));
  }
  await mkdir(directory, { recursive: true, mode: 0o700 });
  return directory;
}
