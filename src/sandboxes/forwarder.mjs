// The first program in a sandbox: opens the port forward, starts the command, and ends with it. It needs only Node,
// because no other file of Errand is inside. It is called in two ways:
//
// forwarder.mjs <port> <socket> -- <command> …   forwards connections to 127.0.0.1:<port> to <socket>
// forwarder.mjs --control <socket>                reads command, environment and port forward as JSON from <socket>;
// when the other end disconnects, everything here ends. It lists and kills processes for further lines of JSON
//
// It must not touch process.stdin, stdout and stderr, because Node would make them non-blocking and the command
// shares them.
import { spawn } from "node:child_process";
import { readdirSync, readFileSync, writeSync } from "node:fs";
import { connect, createServer } from "node:net";
import { constants } from "node:os";
import { pipeline } from "node:stream";

const NOT_STARTED = 127;
const SIGNALLED = 128;

/** The sandbox takes a line with this beginning on stderr for the reason why nothing was started. */
const ERROR_PREFIX = "errand: ";

const PROCESSES_MAX = 400;
const ARGUMENTS_CHARS = 2_000;

/** Variables that could steer Node arrive with this prefix and get their own names for the command. */
const HELD_BACK = "ERRAND_HELD_BACK_";

const FORWARDED = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR2"];

async function main(args) {
  const control = args[0] === "--control" ? await receiveCommand(args[1]) : readArguments(args);
  if (control.portForward !== undefined) {
    await openDoor(control.portForward);
  }
  start(control);
}

function readArguments([port, socketPath, separator, ...argv]) {
  if (separator !== "--" || argv.length === 0) {
    throw new Error("usage: <port> <socket> -- <command> …");
  }
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

function receiveCommand(path) {
  const giver = connect(path);
  giver.setEncoding("utf8");
  return new Promise((resolve, reject) => {
    let answer = resolve;
    let held = "";
    giver.on("data", (chunk) => {
      const lines = (held + chunk).split("\n");
      held = lines.pop();
      for (const line of lines) {
        answer(JSON.parse(line));
        answer = (question) => giver.write(`${JSON.stringify(answerTo(question))}\n`);
      }
    });
    giver.on("error", reject);
    giver.once("connect", () => {
      // The other end is gone. All processes of the command end with the first process of the container.
      giver.once("close", () => process.kill(process.pid, "SIGKILL"));
    });
  });
}

function answerTo({ end }) {
  if (end === undefined) {
    return { processes: listProcesses() };
  }
  const running = listProcesses();
  for (const { pid, startTime } of end) {
    if (running.some((each) => each.pid === pid && each.startTime === startTime)) {
      tryTo(() => process.kill(pid, "SIGKILL"));
    }
  }
  return {};
}

/** All processes of the container except this one and the first, to which those belong whose own parent has ended. */
function listProcesses() {
  const own = [1, process.pid];
  const found = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && !own.includes(Number(name)));
  return found.slice(0, PROCESSES_MAX).flatMap((name) => {
    const stat = tryTo(() => readFileSync(`/proc/${name}/stat`, "utf8")) ?? "";
    // The name in parentheses may contain anything, so the fields after it are counted.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields.length < 20 || fields[0] === "Z" || fields[0] === "X") {
      return [];
    }
    const argv = (tryTo(() => readFileSync(`/proc/${name}/cmdline`, "utf8")) ?? "").slice(0, ARGUMENTS_CHARS);
    const parent = own.includes(Number(fields[1])) ? undefined : Number(fields[1]);
    return [{ pid: Number(name), startTime: fields[19], parent, argv: argv.split("\0").filter(Boolean) }];
  });
}

/** Processes come and go meanwhile. */
function tryTo(action) {
  try {
    return action();
  } catch {
    return undefined;
  }
}

function openDoor({ port, socketPath }) {
  const server = createServer({ allowHalfOpen: true }, (inside) => {
    const outside = connect({ path: socketPath, allowHalfOpen: true });
    // Each direction ends by itself. An error ends both connections.
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
  for (const signal of FORWARDED) {
    process.on(signal, () => child.kill(signal));
  }
}

function fail(error) {
  writeSync(2, `${ERROR_PREFIX}${error.message}\n`);
  process.exit(NOT_STARTED);
}

main(process.argv.slice(2)).catch(fail);
