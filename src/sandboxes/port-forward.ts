import { dirname, join } from "node:path";
import type { SandboxCommand } from "./sandbox.ts";

/** The program that opens the port forward from inside. Its first comment says how it is called. */
export const FORWARDER = join(import.meta.dirname, "forwarder.mjs");

/** These variables would steer Node and the program loader, but are meant only for the command. */
const STEERING = /^(NODE_|LD_|UV_|SSL_|OPENSSL_)/;

/** As in forwarder.mjs, which imports nothing. */
const HELD_BACK = "ERRAND_HELD_BACK_";

/** The command with its port forward; unchanged when it has none. */
export function withPortForward(command: SandboxCommand): SandboxCommand {
  const { portForward } = command;
  if (portForward === undefined) {
    return command;
  }
  return {
    ...command,
    argv: [process.execPath, FORWARDER, `${portForward.port}`, portForward.socketPath, "--", ...command.argv],
    env: Object.fromEntries(
      Object.entries(command.env).map(([name, value]) => [
        STEERING.test(name) ? HELD_BACK + name : name,
        value,
      ]),
    ),
    readable: [...command.readable, process.execPath, FORWARDER, dirname(portForward.socketPath)],
  };
}
