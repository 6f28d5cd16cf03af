import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { withPipes } from "../../child-process/with-pipes.ts";
import { killNow } from "../linux-processes.ts";
import { killMarked, MARKER, makeMarker, sweepOrphans } from "../marked-processes.ts";
import { withPortForward } from "../port-forward.ts";
import { imageRefused } from "../refused-process.ts";
import type { Sandbox, SandboxCommand, SandboxExit, SandboxProcess } from "../sandbox.ts";
import { StderrHead } from "../stderr-head.ts";

const WEAKNESS =
  "Agents run without a sandbox: with this user's rights, files, network and processes, and without limits. " +
  "Install bubblewrap or docker, and leave ERRAND_SANDBOX unset.";

/** No isolation: the agent's processes run as the user of this process. It only guarantees that they can be ended. */
export function createLocalSandbox(dataDir: string): Sandbox {
  return {
    name: "local",
    isolated: false,
    hasImages: false,
    unavailable: async () => undefined,
    weaknesses: async () => [WEAKNESS],
    spawn: (command) =>
      command.image === undefined
        ? spawnLocal(makeMarker(dataDir), withPortForward(command))
        : imageRefused(command.image, "local"),
    sweep: () => sweepOrphans(dataDir),
  };
}

function spawnLocal(marker: string, command: SandboxCommand): SandboxProcess {
  const [program, ...args] = command.argv;
  const env = { ...command.env, [MARKER]: marker };
  // Its own process group, so that it can be killed as one.
  const child = withPipes(spawn(program, args, { cwd: command.cwd, env, detached: true, stdio: "pipe" }));
  const words = new StderrHead(child.stderr);
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: words.stderr,
    exited: watchExit(child, command.portForward === undefined ? undefined : words),
    kill: () => kill(child, marker),
  };
}

async function watchExit(
  child: ChildProcessWithoutNullStreams,
  words: StderrHead | undefined,
): Promise<SandboxExit> {
  const { promise, resolve } = Promise.withResolvers<SandboxExit>();
  child.once("error", (error) => resolve({ code: 127, signal: null, reason: error.message }));
  child.once("exit", (code, signal) => resolve({ code, signal }));
  const exit = await promise;
  const reason = exit.code === 127 ? await words?.forwarderComplaint() : undefined;
  return reason === undefined ? exit : { ...exit, reason };
}

async function kill(child: ChildProcessWithoutNullStreams, marker: string): Promise<void> {
  // After the end of the process, its number and its group may belong to another one.
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    killNow(-child.pid);
  }
  await killMarked(marker);
}
