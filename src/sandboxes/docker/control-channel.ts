import { chmod, rm, writeFile } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { z } from "zod";
import { withTimeout } from "../../core/basics/clock.ts";
import { parseJson } from "../../core/basics/parse-json.ts";
import type { ListedProcess, PortForward } from "../sandbox.ts";

export const CONTROL_SOCKET = "orders";

const END_MS = 2_000;
const ANSWER_MS = 5_000;
/** A longer answer is none. Programs of the agent may have written it. */
const ANSWER_CHARS = 2 ** 20;

const processList = z.object({
  processes: z.array(
    z.object({
      pid: z.int().min(2),
      startTime: z.string(),
      parent: z.int().optional(),
      argv: z.array(z.string()),
    }),
  ),
});

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
  /** What the answers to come resolve, in order. */
  readonly #questions: ((line: string) => void)[] = [];

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

  /** The processes inside. Empty: the program at the other end does not answer. */
  async list(): Promise<readonly ListedProcess[]> {
    return processList.safeParse(parseJson(await this.#ask({ list: true }))).data?.processes ?? [];
  }

  async end(processes: readonly ListedProcess[]): Promise<void> {
    await this.#ask({ end: processes.map(({ pid, startTime }) => ({ pid, startTime })) });
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
    socket.setEncoding("utf8");
    let held = "";
    socket.on("data", (text: string) => {
      const lines = (held + text).split("\n");
      held = (lines.pop() ?? "").slice(0, ANSWER_CHARS);
      for (const line of lines) {
        this.#questions.shift()?.(line);
      }
    });
    socket.write(`${JSON.stringify(control)}\n`);
  }

  /** Empty: there is no answer. */
  async #ask(question: object): Promise<string> {
    if (this.#reader === undefined || this.#reader.destroyed) {
      return "";
    }
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#questions.push(resolve);
    this.#reader.write(`${JSON.stringify(question)}\n`);
    return withTimeout(promise, ANSWER_MS, { onTimeout: () => "" });
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
