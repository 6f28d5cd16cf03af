import { chmod, rm, writeFile } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { withTimeout } from "../../core/with-timeout.ts";
import type { PortForward } from "../sandbox.ts";

export const CONTROL_SOCKET = "orders";

const END_MS = 2_000;

export interface ControlChannel {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly portForward?: PortForward;
}

/**
 * The line to the first program of a container. What it is to do comes this way, so that `docker inspect` and the
 * daemon's files hold no secret; and since the line breaks when this process dies, so does the container.
 */
export class ControlMessage {
  readonly directory: string;
  readonly #server: Server;
  readonly #closed = Promise.withResolvers<true>();
  #reader: Socket | undefined;

  private constructor(directory: string, server: Server) {
    this.directory = directory;
    this.#server = server;
  }

  static async open(directory: string, control: ControlChannel): Promise<ControlMessage> {
    await writeUsers(directory);
    const server = createServer();
    const line = new ControlMessage(directory, server);
    server.on("connection", (socket) => line.#give(socket, control));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once("error", reject);
    server.listen(join(directory, CONTROL_SOCKET), resolve);
    await promise;
    return line;
  }

  /** Ends the container, if the program at the other end is not stopped. False when that did not answer to it. */
  async cut(): Promise<boolean> {
    this.#server.close();
    if (this.#reader === undefined) return true;
    this.#reader.end();
    return withTimeout(this.#closed.promise, END_MS, { onTimeout: () => false });
  }

  async remove(): Promise<void> {
    this.#server.close();
    this.#reader?.destroy();
    await rm(this.directory, { recursive: true, force: true });
  }

  /** To the first who asks: whoever comes later is not that program. */
  #give(socket: Socket, control: ControlChannel): void {
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

/** Names for the users of the container: programs stumble over a user who has none. */
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
