import { readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Sandbox } from "../sandbox.ts";

const PORT = 8_123;

/** Writes what arrives through the port forward to a file, which proves both directions. */
const SCRIPT = `
require("node:net").connect(${PORT}, "127.0.0.1").pipe(require("node:fs").createWriteStream("answer"));
`;

/**
 * An answering daemon is not enough: it may be on another machine, refuse our Node, or not support sockets. So this
 * creates one container of the default image and uses its port forward. Fails with the reason.
 */
export async function tryContainer(sandbox: Sandbox, directory: string, limitMs: number): Promise<void> {
  const server = createServer((socket) => socket.end("through the port forward"));
  try {
    const socketPath = join(directory, "forward.sock");
    await listen(server, socketPath);
    await tryDoor(sandbox, { directory, socketPath, limitMs });
  } finally {
    server.close();
    await rm(directory, { recursive: true, force: true });
  }
}

function listen(server: ReturnType<typeof createServer>, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
}

async function tryDoor(
  sandbox: Sandbox,
  {
    directory,
    limitMs,
    socketPath,
  }: { readonly directory: string; readonly limitMs: number; readonly socketPath: string },
): Promise<void> {
  const inside = sandbox.spawn({
    argv: [process.execPath, "-e", SCRIPT],
    env: {},
    cwd: directory,
    writable: [directory],
    readable: [process.execPath],
    portForward: { socketPath, port: PORT },
  });
  const timer = setTimeout(() => void inside.kill().catch(() => undefined), limitMs);
  inside.stdin.on("error", () => {}).end();
  inside.stdout.resume();
  const [exit, errorText] = await Promise.all([inside.exited, text(inside.stderr)]);
  clearTimeout(timer);
  await inside.kill();
  if (exit.signal !== null) {
    throw new Error(`no container was ready within ${limitMs / 1_000} s`);
  }
  if (exit.code !== 0) {
    throw new Error(exit.reason ?? `a container of it failed: ${errorText.trim()}`);
  }
  const answer = await readFile(join(directory, "answer"), "utf8").catch(() => "");
  if (answer !== "through the port forward") {
    throw new Error("what a container writes does not arrive on this machine");
  }
}
