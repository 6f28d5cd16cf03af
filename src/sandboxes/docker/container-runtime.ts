import { join } from "node:path";
import { FORWARDER } from "../port-forward.ts";
import type { SandboxCommand } from "../sandbox.ts";
import { type SandboxLimits, TMP_BYTES } from "../sandbox-limits.ts";
import { SECCOMP_PROFILE } from "../seccomp-profile.ts";
import { nodeLibraries } from "./docker-host.ts";
import { quoted, volumeArgs } from "./image-volumes.ts";

/** Libraries of the host, for images that lack them. */
export const LIBRARY_PATH = "/run/errand-libraries";

/** If our Node would hide the image's own at this path, it is mounted at another one. */
const OWN_NODE = "/run/errand-node";
const IMAGE_FOLDERS = /^\/(usr|bin|sbin)\//;
const NODE_INSIDE = IMAGE_FOLDERS.test(process.execPath) ? OWN_NODE : process.execPath;

const ISOLATION = [
  ...["--network", "none", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"],
  // Host files keep their own labels, and SELinux would not let a container read them.
  ...["--security-opt", "label=disable", "--security-opt", `seccomp=${SECCOMP_PROFILE}`, "--pids-limit"],
];

export interface Mount {
  readonly source: string;
  readonly target: string;
  readonly isWritable?: boolean;
}

/** The command line inside the container. */
export function argvInside(argv: SandboxCommand["argv"]): readonly string[] {
  return argv.map((arg) => (arg === process.execPath ? NODE_INSIDE : arg));
}

export interface NodeProbe {
  readonly name: string;
  readonly image: string;
  readonly volumes: readonly string[];
  /** As in every container: the image may name a user that does not exist. */
  readonly userArgs: readonly string[];
  readonly needsLibraries: boolean;
  readonly limits: SandboxLimits;
  readonly labels: readonly string[];
}

/**
 * Prints the version of our Node in an image, or fails. The image is untrusted, so the probe gets no more rights than
 * any command.
 */
export function nodeProbeArgs(probe: NodeProbe): readonly string[] {
  const { image, labels, limits, name, needsLibraries, userArgs, volumes } = probe;
  return [
    ...["run", "--pull", "never", "--name", name],
    ...hardening(limits, { cpus: 1, volumes }),
    ...userArgs,
    ...labels.flatMap((label) => ["--label", label]),
    ...mountArgs(runtimeMounts(needsLibraries), volumes),
    ...programArgs(needsLibraries),
    ...[image, "--version"],
  ];
}

export function hardening(
  { cpus, fileBytes, memoryBytes, processes }: SandboxLimits,
  { cpus: hostCpus, volumes }: { readonly cpus: number; readonly volumes: readonly string[] },
): string[] {
  return [
    ...[...ISOLATION, String(processes)],
    // Equal values mean that there is no additional swap.
    ...["--memory", String(memoryBytes), "--memory-swap", String(memoryBytes)],
    ...["--cpus", String(Math.min(cpus, hostCpus))],
    ...["--ulimit", `fsize=${fileBytes}:${fileBytes}`, "--ulimit", "core=0:0"],
    ...["--shm-size", String(TMP_BYTES)],
    ...(volumes.includes("/tmp") ? [] : ["--tmpfs", `/tmp:rw,exec,nosuid,nodev,mode=1777,size=${TMP_BYTES}`]),
    // Output goes only to us, and not also to a file of the daemon that grows for ever.
    ...["--log-driver", "none", "--no-healthcheck"],
  ];
}

/** The image's own entrypoint is not run. */
export function programArgs(needsLibraries: boolean): string[] {
  const libraries = needsLibraries ? ["--env", `LD_LIBRARY_PATH=${LIBRARY_PATH}`] : [];
  return ["--env", "NODE_OPTIONS=", ...libraries, "--entrypoint", NODE_INSIDE];
}

export function runtimeMounts(needsLibraries: boolean): readonly Mount[] {
  const libraries = needsLibraries ? [...nodeLibraries()] : [];
  return [
    { source: process.execPath, target: NODE_INSIDE },
    { source: FORWARDER, target: FORWARDER },
    ...libraries.map(([name, source]) => ({ source, target: join(LIBRARY_PATH, name) })),
  ];
}

/** The last mount of a path counts, because docker rejects two mounts of one path. Any of ours replaces a volume. */
export function mountArgs(mounts: readonly Mount[], volumes: readonly string[]): readonly string[] {
  const byTarget = new Map(mounts.map((mount) => [mount.target, mount]));
  return [
    ...volumeArgs(volumes.filter((path) => !byTarget.has(path))),
    ...[...byTarget.values()].flatMap((mount) => ["--mount", fieldsOf(mount).map(quoted).join(",")]),
  ];
}

/** docker rejects a source that does not exist. */
function fieldsOf({ isWritable = false, source, target }: Mount): readonly string[] {
  return ["type=bind", `source=${source}`, `target=${target}`, ...(isWritable ? [] : ["readonly"])];
}
