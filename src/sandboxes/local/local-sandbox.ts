import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { killNow } from "../linux-processes.ts";
import type { Sandbox, SandboxCommand, SandboxExit, SandboxProcess } from "../sandbox.ts";
import { killMarked, MARKER, makeMarker } from "./marked-processes.ts";

/** No sandbox: the agent's processes run as this one's user. What is promised is that they can be ended. */
export function createLocalSandbox(dataDir: string): Sandbox {
  return {
    name: "local",
    isolated: false,
    unavailable: async () => undefined,
    spawn: (command) => spawnLocal(makeMarker(dataDir), command),
  };
}

function spawnLocal(marker: string, command: SandboxCommand): SandboxProcess {
  const [program, ...args] = command.argv;
  const child = spawn(program, args, {
    cwd: command.cwd,
    env: { ...command.env, [MARKER]: marker },
    // A process group of its own, so that it can be killed as one.
    detached: true,
    stdio: "pipe",
  });
  const exited = watchExit(child);
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exited,
    kill: () => kill(child, marker),
  };
}

function watchExit(child: ChildProcessWithoutNullStreams): Promise<SandboxExit> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ code: 127, signal: null, reason: error.message }));
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
}

async function kill(child: ChildProcessWithoutNullStreams, marker: string): Promise<void> {
  // Once it has ended its number may be another's, and its group's with it.
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    killNow(-child.pid);
  }
  await killMarked(marker);
}
