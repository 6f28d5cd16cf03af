import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { DockerProgram } from "../../src/sandboxes/docker/docker-cli.ts";
import { buildImages } from "./docker-images.ts";
import { waitFor } from "./wait-for.ts";

const run = promisify(execFile);

/** A docker daemon of a test's own, with two images that need no registry. Whoever starts one stops it. */
export interface TestDocker extends DockerProgram {
  /** Git, bash, the usual programs and Node. */
  readonly imageWithNode: string;
  /** The usual programs alone: no Node, and not the libraries it needs. */
  readonly imageBare: string;
  /** What `docker …` prints. */
  call(...args: string[]): Promise<string>;
  /** As if the daemon's machine had run out of luck; containers go on. */
  killDaemon(): Promise<void>;
  stop(): Promise<void>;
}

/** The daemon is where the path of ordinary users does not lead. */
const WITH_SYSTEM_PROGRAMS = `${process.env.PATH}:/usr/sbin:/sbin`;

const CALL_MS = 20_000;

const DRIVERS = ["overlay2", "vfs"];

/** Why tests of docker are skipped here, or undefined. Where everything should be there, nothing is skipped. */
export async function reasonToSkipDocker(): Promise<string | undefined> {
  const problem = process.getuid?.() === 0 ? await missingProgram() : "only root can start a docker daemon";
  if (problem !== undefined && process.env.CI === "true") {
    throw new Error(`docker must be usable where CI=true: ${problem}`);
  }
  return problem;
}

async function missingProgram(): Promise<string | undefined> {
  for (const program of ["dockerd", "docker"]) {
    try {
      await run(program, ["--version"], { env: { PATH: WITH_SYSTEM_PROGRAMS } });
    } catch {
      return `${program} is not installed (docker.io)`;
    }
  }
  return undefined;
}

export async function startDocker(): Promise<TestDocker> {
  const root = await mkdtemp(join(tmpdir(), "errand-docker-"));
  const environment = { PATH: process.env.PATH ?? "", HOME: root, DOCKER_HOST: `unix://${root}/docker.sock` };
  const call = async (...args: string[]) =>
    (await run("docker", args, { env: environment, timeout: CALL_MS })).stdout.trim();
  const daemon = await startAny(root, call);
  const stop = () => putAway(daemon, root, call);
  try {
    const images = await buildImages(root, call);
    const killDaemon = () => end(daemon, "SIGKILL");
    return { program: "docker", environment, ...images, call, killDaemon, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Call = (...args: string[]) => Promise<string>;

async function startAny(root: string, call: Call): Promise<ChildProcess> {
  for (const driver of DRIVERS) {
    const daemon = startDaemon(root, driver);
    const ready = waitFor(() => call("info", "--format", "{{.Driver}}"), {
      what: "the daemon",
      timeoutMs: 30_000,
    });
    const ended = once(daemon, "exit").then(() => "");
    if ((await Promise.race([ready, ended])) === driver) return daemon;
    ready.catch(() => undefined);
    await end(daemon, "SIGKILL");
  }
  throw new Error(`dockerd did not start: ${await readFile(join(root, "log"), "utf8")}`);
}

function startDaemon(root: string, driver: string): ChildProcess {
  const places = ["--data-root", "data", "--exec-root", "exec", "--pidfile", "pid"];
  const args = [
    ...["-H", `unix://${root}/docker.sock`, "--iptables=false", "--bridge=none", "--storage-driver", driver],
    ...places.map((word) => (word.startsWith("--") ? word : join(root, word))),
  ];
  // Through a shell, so that what it says is in a file and no pipe of ours keeps it or its children waiting.
  const script = 'log=$1; shift; exec dockerd "$@" >>"$log" 2>&1';
  const env = { PATH: WITH_SYSTEM_PROGRAMS, HOME: root };
  return spawn("sh", ["-c", script, "sh", join(root, "log"), ...args], { env, stdio: "ignore" });
}

async function end(daemon: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return;
  const exited = once(daemon, "exit");
  daemon.kill(signal);
  await exited;
}

async function putAway(daemon: ChildProcess, root: string, call: Call): Promise<void> {
  // By the daemon as far as it goes: what is killed leaves cgroups behind.
  await removeContainers(call).catch(() => undefined);
  await end(daemon, "SIGKILL");
  await waitFor(() => killWhatIsLeft(root), { what: "containerd and its containers to end" });
  await unmountAll(root);
  await rm(root, { recursive: true, force: true });
}

async function removeContainers(call: Call): Promise<void> {
  const ids = (await call("ps", "--all", "--quiet")).split("\n").filter(Boolean);
  if (ids.length > 0) await call("rm", "--force", "--volumes", ...ids);
}

/** A daemon that was killed leaves containerd, and that the containers: all of them have the root in their arguments. */
async function killWhatIsLeft(root: string): Promise<boolean> {
  const left: string[] = [];
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const commandLine = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (!commandLine.includes(root) || !/containerd/.test(commandLine)) continue;
    // The first process of a container is its shim's child, and lives on without it.
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
    left.push(...(commandLine.includes("shim") ? children.split(" ").filter(Boolean) : []), pid);
  }
  for (const pid of left) process.kill(Number(pid), "SIGKILL");
  return left.length === 0;
}

async function unmountAll(root: string): Promise<void> {
  const mounts = (await readFile("/proc/self/mounts", "utf8"))
    .split("\n")
    .map((line) => line.split(" ")[1] ?? "");
  for (const mount of mounts.filter((path) => path.startsWith(root)).toReversed())
    await run("umount", ["--lazy", mount]);
}
