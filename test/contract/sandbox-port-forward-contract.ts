import { mkdir, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { PortForward, Sandbox } from "../../src/sandboxes/sandbox.ts";
import { freePort } from "../support/free-port.ts";
import { SandboxHarness } from "../support/sandbox-harness.ts";
import { waitFor } from "../support/wait-for.ts";
import { processesWith, uniqueSeconds } from "./sandbox-contract.ts";

/** A program of Node that uses the port forward; `port`, `connect` and `print` are there for it. */
function inside(script: string): readonly [string, ...string[]] {
  const head = `
    const { connect } = require("node:net");
    const port = Number(process.env.DOOR_PORT);
    const print = (text) => process.stdout.write(String(text));`;
  return [process.execPath, "-e", `${head}\n${script}`];
}

/** The only way out of a sandbox: what goes through it, and what becomes of it. */
export function describePortForward(name: string, makeSandbox: (dataDir: string) => Sandbox): void {
  describe(`the port forward of the ${name} sandbox`, () => {
    let harness: SandboxHarness;
    let server: Server;
    let portForward: PortForward;
    const open = new Set<Socket>();
    let seen = 0;
    const readable = [process.execPath];
    const run = async (script: string) => {
      const env = { PATH: "/usr/bin:/bin", DOOR_PORT: String(portForward.port) };
      const process = harness.spawn({ argv: inside(script), env, readable, portForward });
      const [out, err, exit] = await Promise.all([
        text(process.stdout),
        text(process.stderr),
        process.exited,
      ]);
      return { out, err, ...exit };
    };

    beforeEach(async () => {
      harness = await SandboxHarness.open(makeSandbox);
      seen = 0;
      await mkdir(join(harness.root, "forward"));
      portForward = { socketPath: join(harness.root, "forward", "s"), port: await freePort() };
      server = createServer({ allowHalfOpen: true }, (socket) => {
        open.add(socket);
        seen += 1;
        socket.on("error", () => undefined).once("close", () => open.delete(socket));
      }).listen(portForward.socketPath);
      await new Promise((resolve) => server.once("listening", resolve));
    });

    afterEach(async () => {
      for (const socket of open) {
        socket.destroy();
      }
      await new Promise((resolve) => server.close(resolve));
      await harness.close();
    });

    test("a port forward carries bytes both ways, and the end of each way by itself", async () => {
      server.on("connection", async (socket) => socket.end(`answer to ${await text(socket)}`));

      const { out, code } = await run(`
        const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
        socket.end("question");
        socket.on("data", print);`);

      expect({ out, code }).toEqual({ out: "answer to question", code: 0 });
    });

    test("a port forward carries many connections at once, and a lot", async () => {
      server.on("connection", (socket) => socket.pipe(socket));

      const { out } = await run(`
        const { buffer } = require("node:stream/consumers");
        const { randomBytes } = require("node:crypto");
        Promise.all(Array.from({ length: 40 }, async () => {
          const sent = randomBytes(300_000);
          const socket = connect(port, "127.0.0.1");
          socket.end(sent);
          return sent.equals(await buffer(socket));
        })).then((same) => print(same.filter(Boolean).length));`);

      expect(out).toBe("40");
    });

    test("a port forward closes the connection outside when the one inside is broken off", async () => {
      server.on("connection", (socket) =>
        socket
          .on("end", () => socket.end())
          .resume()
          .write("hello"),
      );
      const broken = run(`
        const socket = connect(port, "127.0.0.1").on("error", () => {});
        socket.once("data", () => { socket.resetAndDestroy(); process.stdin.once("end", () => {}).resume(); });`);
      await waitFor(() => seen === 1, { what: "a connection" });

      await waitFor(() => open.size === 0, { what: "its end outside" });

      await harness.close();
      await broken;
    });

    test("a port forward closes the connection inside when the one outside is broken off", async () => {
      server.on("connection", (socket) => socket.destroy());

      const { out } = await run(`
        connect(port, "127.0.0.1").on("error", () => {}).on("close", () => print("closed")).resume();`);

      expect(out).toBe("closed");
    });

    test("a port forward ends its connections when the command ends or is killed", async () => {
      server.on("connection", (socket) => socket.on("end", () => socket.end()).resume());
      const process = harness.spawn({
        argv: inside(`connect(port, "127.0.0.1");`),
        ...{ env: { PATH: "/usr/bin:/bin", DOOR_PORT: String(portForward.port) }, readable, portForward },
      });
      await waitFor(() => seen === 1, { what: "a connection" });

      await process.kill();

      await waitFor(() => open.size === 0, { what: "its end" });
    });

    test("a port forward without a listener closes new connections, and the command continues", async () => {
      server.close();
      await rm(portForward.socketPath, { force: true });

      const { out, code } = await run(`
        connect(port, "127.0.0.1").on("error", () => {}).on("close", () => print("closed")).resume();`);

      expect({ out, code }).toEqual({ out: "closed", code: 0 });
    });

    test("a port forward changes nothing of the command: streams, environment, exit code, signals, reason", async () => {
      const env = { PATH: "/usr/bin:/bin", NODE_OPTIONS: "--no-such-option", LINES: "a\nb" };
      const script = 'cat; printf "%s" "$NODE_OPTIONS$LINES"; env | grep -c ERRAND_HELD; exit 3';
      const process = harness.shell(script, { env, portForward });
      process.stdin.end("from outside ");
      const out = await text(process.stdout);

      const killed = await harness.shell("kill -9 $$", { portForward }).exited;
      const missing = await harness.spawn({
        argv: ["/usr/bin/no-such-program"],
        portForward: { ...portForward, port: await freePort() },
      }).exited;

      expect({ out, exit: await process.exited }).toEqual({
        out: "from outside --no-such-optiona\nb0\n",
        exit: { code: 3, signal: null },
      });
      expect(killed.code).toBe(137);
      expect(missing).toMatchObject({ code: 127, reason: expect.stringContaining("ENOENT") });
    });

    test("kill ends the processes of a port forward, even if they hide", async () => {
      const seconds = uniqueSeconds();
      const process = harness.shell(`setsid nohup sleep ${seconds} >/dev/null 2>&1 & sleep ${seconds}`, {
        portForward,
      });
      await waitFor(async () => (await processesWith(seconds)).length >= 2, { what: "both sleepers" });

      await process.kill();

      expect(await processesWith(seconds)).toEqual([]);
    });
  });
}
