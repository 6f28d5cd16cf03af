import { dirname, join } from "node:path";
import type { SandboxCommand } from "./sandbox.ts";

/** The program that makes the door from inside. Its head says how it is called. */
export const FORWARDER = join(import.meta.dirname, "forwarder.mjs");

/** By these Node and the loader of programs would be steered; they are meant for the command alone. */
const STEERING = /^(NODE_|LD_|UV_|SSL_|OPENSSL_)/;

/** As in forwarder.mjs, which stands alone. */
const HELD_BACK = "ERRAND_HELD_BACK_";

/** The command as it has to be started so that its door is there; unchanged when it has none. */
export function withPortForward(command: SandboxCommand): SandboxCommand {
  const { portForward } = command;
  if (portForward === undefined) return command;
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
