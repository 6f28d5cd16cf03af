import { chmod, rm, writeFile } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { withTimeout } from "../../core/basics/with-timeout.ts";
import type { PortForward } from "../sandbox.ts";

export const CONTROL_SOCKET = "orders";

const END_MS = 2_000;

export interface ContainerCommand {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly portForward?: PortForward;
}

/**
 * The connection to the first program of a container. It carries the command, so that `docker inspect` and the
 * daemon's files contain no secret. When this process dies, the connection breaks and the container ends.
 */
export class ControlChannel {
  readonly directory: string;
  readonly #server: Server;
  readonly #closed = Promise.withResolvers<true>();
  #reader: Socket | undefined;

  private constructor(directory: string, server: Server) {
    this.directory = directory;
    this.#server = server;
  }

  static async open(directory: string, control: ContainerCommand): Promise<ControlChannel> {
    await writeUsers(directory);
    const server = createServer();
    const line = new ControlChannel(directory, server);
    server.on("connection", (socket) => line.#give(socket, control));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once("error", reject);
    server.listen(join(directory, CONTROL_SOCKET), resolve);
    await promise;
    return line;
  }

  /** Ends the container, unless the program at the other end is stopped. False when the program did not react. */
  async cut(): Promise<boolean> {
    this.#server.close();
    if (this.#reader === undefined) {
      return true;
    }
    this.#reader.end();
    return withTimeout(this.#closed.promise, END_MS, { onTimeout: () => false });
  }

  async remove(): Promise<void> {
    this.#server.close();
    this.#reader?.destroy();
    await rm(this.directory, { recursive: true, force: true });
  }

  /** Answers only the first connection, because any later one is not that program. */
  #give(socket: Socket, control: ContainerCommand): void {
    socket.on("error", () => {});
    if (this.#reader !== undefined) {
      socket.destroy();
      return;
    }
    this.#reader = socket;
    socket.once("close", () => this.#closed.resolve(true));
    socket.resume();
    socket.write(`${JSON.stringify(control)}\n`);
  }
}

/** Writes names for the users of the container, because some programs fail for a user without a name. */
async function writeUsers(directory: string): Promise<void> {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  const passwd = [`errand:x:${uid}:${gid}:agent:/:/bin/sh`, "root:x:0:0:root:/:/bin/sh", NOBODY, ""].join(
    "\n",
  );
  const group = [`errand:x:${gid}:`, "root:x:0:", "nogroup:x:65534:", ""].join("\n");
  await writeFile(join(directory, "passwd"), passwd);
  await writeFile(join(directory, "group"), group);
  await Promise.all(["passwd", "group"].map((file) => chmod(join(directory, file), 0o644)));
}

const NOBODY = "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin";
