import { once } from "node:events";
import { startPostmaster } from "@errand/embedded-postgres/parts";
import { npmInstall } from "../../src/agents/install/npm-install.ts";
import { startProgram } from "../../src/child-process/start-program.ts";
import { git } from "../../src/git/git-command.ts";
import { createBubblewrapSandbox } from "../../src/sandboxes/bubblewrap/bubblewrap-sandbox.ts";
import { DockerCli } from "../../src/sandboxes/docker/docker-cli.ts";
import { createLocalSandbox } from "../../src/sandboxes/local/local-sandbox.ts";
import { SILENT_LOG } from "./logs.ts";

const signal = new AbortController().signal;
const limits = { memoryBytes: 64 * 2 ** 20, cpus: 1, processes: 8, fileBytes: 2 ** 20 };
const npm = { npmPackage: { name: "none", version: "1.0.0" }, directory: "/", home: "/" };
const place = { account: { uid: 1, gid: 1, isOurs: true }, home: "/", cluster: "/nowhere" };

/**
 * Each kind of program that a server starts, with another program in its place. npm is found as `npm` in the folder
 * `path`.
 */
export function programStarts(program: string, path: string): Readonly<Record<string, () => unknown>> {
  const binaries = { initdb: program, postgres: program, majorVersion: "18", environment: {} };
  const docker = new DockerCli({ program, environment: {} });
  const command = { argv: [program], env: {}, cwd: "/", writable: [], readable: [] } as const;
  return {
    bubblewrap: () => createBubblewrapSandbox({ dataDir: "/", limits, program }).spawn(command).exited,
    "docker call": () => docker.call([]),
    "docker attach": () => once(docker.spawn([]), "close"),
    git: () => git({ program, args: [], gitDir: "/nowhere", maxOutputBytes: 1, signal }),
    local: () => createLocalSandbox("/").spawn(command).exited,
    npm: () => npmInstall({ ...npm, variables: { PATH: path }, signal }),
    postgres: () => startPostmaster({ place, binaries, socketDirectory: "/", log: SILENT_LOG, startProgram }),
  };
}
