import { existsSync, realpathSync } from "node:fs";
import { RESTRICTED } from "../../core/model/workers/worker.ts";
import { startHostProcess } from "../host-process.ts";
import { sweepOrphans } from "../linux-processes.ts";
import { imageRefused, refusedProcess } from "../refused-process.ts";
import type { Sandbox, SandboxCommand, SandboxProcess } from "../sandbox.ts";

/**
 * The only variables that reach the program. All others may be a user's, and some of them make a program load code
 * from a file of the workspace: `LD_PRELOAD`, `NODE_OPTIONS`, `GCONV_PATH`.
 */
const VARIABLES: ReadonlySet<string> = new Set(["PATH", "HOME", "LANG", "TERM"]);

const NO_PROGRAMS =
  "This worker has no sandbox, so it starts no program that a user or a repository chooses: no setup command, no git " +
  "hook or filter, no MCP server.";

const REMEDY = "Install bubblewrap or docker where the worker runs, and restart the worker.";

/**
 * The last resort of `auto`, where nothing isolates. It runs only Errand's built-in agent, under Node's permission
 * model: the program can start no other program and use no files outside of its directories. README.md in this folder
 * says what that does not cover.
 */
export function createRestrictedSandbox(dataDir: string): Sandbox {
  return {
    name: RESTRICTED,
    isolated: false,
    hasLoopback: false,
    hasImages: false,
    hasMounts: false,
    unavailable: async () => undefined,
    weaknesses: async () => [`${NO_PROGRAMS} Only the demo agent runs, without its shell step. ${REMEDY}`],
    spawn: (command) => spawnRestricted(dataDir, command),
    sweep: () => sweepOrphans(dataDir),
  };
}

function spawnRestricted(dataDir: string, command: SandboxCommand): SandboxProcess {
  if (command.image !== undefined) {
    return imageRefused(command.image, RESTRICTED);
  }
  if (command.isBuiltIn !== true || command.argv[0] !== process.execPath) {
    return refusedProcess(NO_PROGRAMS, { remedy: REMEDY });
  }
  return startHostProcess(restricted(command), { dataDir, hasForwarder: false });
}

/** The command under Node's permission model. */
function restricted(command: SandboxCommand): SandboxCommand {
  const { argv, env, readable, writable } = command;
  const [program, ...args] = argv;
  const flags = [
    "--permission",
    ...[...readable, ...writable].flatMap(withRealPath).map((path) => `--allow-fs-read=${path}`),
    ...writable.flatMap(withRealPath).map((path) => `--allow-fs-write=${path}`),
  ];
  const allowed = Object.entries(env).filter(([name]) => VARIABLES.has(name));
  return { ...command, argv: [program, ...flags, ...args], env: Object.fromEntries(allowed) };
}

/** Modules are found by their real path. */
function withRealPath(path: string): readonly string[] {
  return existsSync(path) ? [...new Set([path, realpathSync(path)])] : [path];
}
