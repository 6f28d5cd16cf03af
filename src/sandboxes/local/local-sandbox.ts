import { startHostProcess } from "../host-process.ts";
import { sweepOrphans } from "../linux-processes.ts";
import { withPortForward } from "../port-forward.ts";
import { imageRefused } from "../refused-process.ts";
import type { Sandbox, SandboxCommand, SandboxProcess } from "../sandbox.ts";

const WEAKNESS =
  "ERRAND_SANDBOX=local: every run can read and change all files of this user, among them the administrator's key, the " +
  "secret key and the database, and uses this machine's network without limits.";

/** No isolation: the agent's processes run as the user of this process. It only guarantees that they can be ended. */
export function createLocalSandbox(dataDir: string): Sandbox {
  return {
    name: "local",
    isolated: false,
    hasLoopback: false,
    hasImages: false,
    hasMounts: false,
    unavailable: async () => undefined,
    weaknesses: async () => [WEAKNESS],
    spawn: (command) =>
      command.image === undefined ? spawnLocal(dataDir, command) : imageRefused(command.image, "local"),
    sweep: () => sweepOrphans(dataDir),
  };
}

function spawnLocal(dataDir: string, command: SandboxCommand): SandboxProcess {
  const hasForwarder = command.portForward !== undefined;
  return startHostProcess(withPortForward(command), { dataDir, hasForwarder });
}
