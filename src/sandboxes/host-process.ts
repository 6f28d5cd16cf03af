import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { startProgram } from "../child-process/start-program.ts";
import { endProcesses, killMarked, killNow, listMarked, MARKER, makeMarker } from "./linux-processes.ts";
import type { SandboxCommand, SandboxExit, SandboxProcess } from "./sandbox.ts";
import { StderrHead } from "./stderr-head.ts";

/**
 * Starts a command as the user of this process, for sandboxes without a process namespace. `hasForwarder`: the program
 * is the forwarder, whose error explains why it did not start the command.
 */
export function startHostProcess(
  command: SandboxCommand,
  { dataDir, hasForwarder }: { readonly dataDir: string; readonly hasForwarder: boolean },
): SandboxProcess {
  const marker = makeMarker(dataDir);
  const [program, ...args] = command.argv;
  const env = { ...command.env, [MARKER]: marker };
  // Its own process group, so that it can be killed as one.
  const child = startProgram(program, args, { cwd: command.cwd, env, detached: true });
  const stderrHead = new StderrHead(child.stderr);
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: stderrHead.stderr,
    exited: watchExit(child, hasForwarder ? stderrHead : undefined),
    kill: () => kill(child, marker),
    list: () => listMarked(MARKER, marker),
    end: endProcesses,
  };
}

async function watchExit(
  child: ChildProcessWithoutNullStreams,
  stderrHead: StderrHead | undefined,
): Promise<SandboxExit> {
  const { promise, resolve } = Promise.withResolvers<SandboxExit>();
  child.once("error", (error) => resolve({ code: 127, signal: null, reason: error.message }));
  child.once("exit", (code, signal) => resolve({ code, signal }));
  const exit = await promise;
  const reason = exit.code === 127 ? await stderrHead?.forwarderError() : undefined;
  return reason === undefined ? exit : { ...exit, reason };
}

async function kill(child: ChildProcessWithoutNullStreams, marker: string): Promise<void> {
  // After the end of the process, its number and its group may belong to another one.
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    killNow(-child.pid);
  }
  await killMarked(marker);
}
