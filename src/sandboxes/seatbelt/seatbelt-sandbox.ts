import { existsSync, realpathSync } from "node:fs";
import { defined } from "../../core/basics/defined.ts";
import { startHostProcess } from "../host-process.ts";
import { sweepOrphans } from "../linux-processes.ts";
import { imageRefused } from "../refused-process.ts";
import type { Sandbox, SandboxCommand, SandboxProcess } from "../sandbox.ts";
import { seatbeltProfile } from "./seatbelt-profile.ts";

const PROGRAM = "/usr/bin/sandbox-exec";

const WEAKNESS =
  "The macOS sandbox limits neither memory, processors, processes nor files, and Errand's authors have not tested it on " +
  "macOS. Use docker for agents that you do not trust.";

/**
 * Isolates on macOS by `sandbox-exec`, with a profile for each command. Not tested on macOS: the tests check only the text
 * of the profile. README.md in this folder lists what it should guarantee.
 */
export function createSeatbeltSandbox(dataDir: string): Sandbox {
  return {
    name: "seatbelt",
    isolated: true,
    hasLoopback: false,
    hasImages: false,
    hasMounts: false,
    unavailable: async () =>
      process.platform === "darwin" && existsSync(PROGRAM) ? undefined : `${PROGRAM} exists only on macOS.`,
    weaknesses: async () => [WEAKNESS],
    spawn: (command) => spawnSeatbelt(dataDir, command),
    sweep: () => sweepOrphans(dataDir),
  };
}

function spawnSeatbelt(dataDir: string, command: SandboxCommand): SandboxProcess {
  const { argv, cwd, env, hostPort, image, readable, writable } = command;
  if (image !== undefined) {
    return imageRefused(image, "seatbelt");
  }
  const profile = seatbeltProfile(
    defined({
      dataDir: realPath(dataDir),
      readable: readable.flatMap((path) => [path, realPath(path)]),
      writable: writable.map(realPath),
      hostPort,
    }),
  );
  // The system's own directory for temporary files is outside of the sandbox.
  const own = { TMPDIR: env.HOME ?? cwd, ...env };
  const inside: SandboxCommand = { ...command, argv: [PROGRAM, "-p", profile, ...argv], env: own };
  return startHostProcess(inside, { dataDir, hasForwarder: false });
}

function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}
