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

/** A docker daemon for one test, with two images that need no registry. A test that starts one must stop it. */
export interface TestDocker extends DockerProgram {
  /** Git, bash, the usual programs and Node. */
  readonly imageWithNode: string;
  /** Only the usual programs: no Node, and not the libraries that it needs. */
  readonly imageBare: string;
  /** Returns the output of `docker …`. */
  call(...args: string[]): Promise<string>;
  /** Kills the daemon as a crash would. Containers continue to run. */
  killDaemon(): Promise<void>;
  stop(): Promise<void>;
}

/** The daemon is in a folder that is not in the PATH of ordinary users. */
const WITH_SYSTEM_PROGRAMS = `${process.env.PATH}:/usr/sbin:/sbin`;

const CALL_MS = 20_000;

const DRIVERS = ["overlay2", "vfs"];

/** Why tests of docker are skipped on this machine, or undefined. In CI nothing is skipped. */
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
    if ((await Promise.race([ready, ended])) === driver) {
      return daemon;
    }
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
  // Started by a shell, so that the output goes to a file and neither the daemon nor its children wait for a pipe of
  // this process.
  const script = 'log=$1; shift; exec dockerd "$@" >>"$log" 2>&1';
  const env = { PATH: WITH_SYSTEM_PROGRAMS, HOME: root };
  return spawn("sh", ["-c", script, "sh", join(root, "log"), ...args], { env, stdio: "ignore" });
}

async function end(daemon: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) {
    return;
  }
  const exited = once(daemon, "exit");
  daemon.kill(signal);
  await exited;
}

async function putAway(daemon: ChildProcess, root: string, call: Call): Promise<void> {
  // Containers are removed by the daemon if possible, because killed ones leave cgroups behind.
  await removeContainers(call).catch(() => undefined);
  await end(daemon, "SIGKILL");
  await waitFor(() => killWhatIsLeft(root), { what: "containerd and its containers to end" });
  await unmountAll(root);
  await rm(root, { recursive: true, force: true });
}

async function removeContainers(call: Call): Promise<void> {
  const ids = (await call("ps", "--all", "--quiet")).split("\n").filter(Boolean);
  if (ids.length > 0) {
    await call("rm", "--force", "--volumes", ...ids);
  }
}

/**
 * A killed daemon leaves containerd behind, which leaves the containers. All of them have the root folder in their
 * arguments.
 */
async function killWhatIsLeft(root: string): Promise<boolean> {
  const left: string[] = [];
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const commandLine = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (!commandLine.includes(root) || !/containerd/.test(commandLine)) {
      continue;
    }
    // The first process of a container is the child of its shim, and survives it.
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
    left.push(...(commandLine.includes("shim") ? children.split(" ").filter(Boolean) : []), pid);
  }
  for (const pid of left) {
    process.kill(Number(pid), "SIGKILL");
  }
  return left.length === 0;
}

async function unmountAll(root: string): Promise<void> {
  const mounts = (await readFile("/proc/self/mounts", "utf8"))
    .split("\n")
    .map((line) => line.split(" ")[1] ?? "");
  for (const mount of mounts.filter((path) => path.startsWith(root)).toReversed()) {
    await run("umount", ["--lazy", mount]);
  }
}
