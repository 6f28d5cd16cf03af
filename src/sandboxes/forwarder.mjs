// The first program in a sandbox: makes the way out, then starts the command and ends as that ends. It needs nothing
// but Node, since it runs where nothing else of ours is. Two ways to call it:
//
//   forwarder.mjs <port> <socket> -- <command> …   the door: connections to 127.0.0.1:<port> lead to <socket>
//   forwarder.mjs --orders <socket>                command, environment and door come as JSON through <socket>, and
//                                                  when whoever wrote them goes away, everything here ends
//
// process.stdin, stdout and stderr must not be touched: Node would set them to non-blocking, and the command has the
// same ones.
import { spawn } from "node:child_process";
import { writeSync } from "node:fs";
import { connect, createServer } from "node:net";
import { constants } from "node:os";
import { pipeline } from "node:stream";

const NOT_STARTED = 127;
const SIGNALLED = 128;

/** The sandbox takes what stderr begins with for the reason why nothing was started. */
const COMPLAINT = "errand: ";

/** Variables by which Node itself could be steered come under this name, and leave under their own. */
const HELD_BACK = "ERRAND_HELD_BACK_";

const FORWARDED = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR2"];

async function main(args) {
  const control = args[0] === "--orders" ? await receiveOrders(args[1]) : readArguments(args);
  if (control.portForward !== undefined) await openDoor(control.portForward);
  start(control);
}

function readArguments([port, socketPath, separator, ...argv]) {
  if (separator !== "--" || argv.length === 0) throw new Error("usage: <port> <socket> -- <command> …");
  return { argv, env: released(process.env), portForward: { port: Number(port), socketPath } };
}

function released(env) {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [
      name.startsWith(HELD_BACK) ? name.slice(HELD_BACK.length) : name,
      value,
    ]),
  );
}

function receiveOrders(path) {
  const giver = connect(path);
  giver.setEncoding("utf8");
  return new Promise((resolve, reject) => {
    let text = "";
    giver.on("data", (chunk) => {
      text += chunk;
      if (text.endsWith("\n")) resolve(JSON.parse(text));
    });
    giver.on("error", reject);
    giver.once("connect", () => {
      // Nobody is left for whom to work. What the command has started ends with the first process of the container.
      giver.once("close", () => process.kill(process.pid, "SIGKILL"));
    });
  });
}

function openDoor({ port, socketPath }) {
  const server = createServer({ allowHalfOpen: true }, (inside) => {
    const outside = connect({ path: socketPath, allowHalfOpen: true });
    // Each direction ends by itself; if one breaks, it takes both connections with it.
    pipeline(inside, outside, () => {});
    pipeline(outside, inside, () => {});
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
}

function start({ argv: [program, ...args], env }) {
  const child = spawn(program, args, { env, stdio: "inherit" });
  child.once("error", fail);
  child.once("exit", (code, signal) =>
    process.exit(signal === null ? code : SIGNALLED + constants.signals[signal]),
  );
  for (const signal of FORWARDED) process.on(signal, () => child.kill(signal));
}

function fail(error) {
  writeSync(2, `${COMPLAINT}${error.message}\n`);
  process.exit(NOT_STARTED);
}

main(process.argv.slice(2)).catch(fail);
