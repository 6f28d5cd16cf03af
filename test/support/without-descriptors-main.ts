import { closeSync, openSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { npmInstall } from "../../src/agents/install/npm-install.ts";
import { startPostmaster } from "../../src/embedded-postgres/postmaster.ts";
import { git } from "../../src/git/git-command.ts";
import { createBubblewrapSandbox } from "../../src/sandboxes/bubblewrap/bubblewrap-sandbox.ts";
import { DockerCli } from "../../src/sandboxes/docker/docker-cli.ts";
import { createLocalSandbox } from "../../src/sandboxes/local/local-sandbox.ts";
import { SILENT_LOG } from "./logs.ts";

/** A process that starts a program when it has no file descriptor left, and prints the resulting error. */
const signal = new AbortController().signal;
const command = { argv: ["/bin/true"], env: {}, cwd: "/", writable: [], readable: [] } as const;
const limits = { memoryBytes: 64 * 2 ** 20, cpus: 1, processes: 8, fileBytes: 2 ** 20 };
const install = { npmPackage: { name: "none", version: "1.0.0" }, directory: "/", home: "/", variables: {} };
const place = { account: { uid: 1, gid: 1, isOurs: true }, home: "/", cluster: "/nowhere" };
const binaries = { initdb: "/bin/true", postgres: "/bin/true", majorVersion: "18", environment: {} };

const STARTS: Readonly<Record<string, () => unknown>> = {
  bubblewrap: () => createBubblewrapSandbox({ dataDir: "/", limits }).spawn(command),
  docker: () => new DockerCli({ program: "docker", environment: {} }).spawn([]),
  git: () => git({ program: "git", args: [], gitDir: "/nowhere", maxOutputBytes: 1, signal }),
  local: () => createLocalSandbox("/").spawn(command),
  npm: () => npmInstall({ ...install, signal }),
  postgres: () => startPostmaster({ place, binaries, socketDirectory: "/", log: SILENT_LOG }),
};

const start = STARTS[process.argv[2] ?? ""];
const taken = takeAll();
// One descriptor is freed: reading a file is possible, which some starts do first, but a pipe needs two.
closeSync(taken.pop() ?? 0);
const told = await Promise.try(() => start?.()).then(String, String);
// By then an unhandled error would have ended the process.
await setImmediate();
for (const descriptor of taken) {
  closeSync(descriptor);
}
process.stdout.write(told);

function takeAll(): number[] {
  const descriptors: number[] = [];
  try {
    for (;;) {
      descriptors.push(openSync("/dev/null", "r"));
    }
  } catch {
    return descriptors;
  }
}
