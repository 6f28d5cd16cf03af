import { join } from "node:path";
import { FORWARDER } from "../port-forward.ts";
import type { SandboxCommand } from "../sandbox.ts";
import { type SandboxLimits, TMP_BYTES } from "../sandbox-limits.ts";
import { nodeLibraries } from "./docker-host.ts";

/** Libraries of the host for an image that lacks them; in no other image. */
export const LIBRARY_PATH = "/run/errand-libraries";

/** Where our Node would hide one that the image itself has at this place, it is brought to another one. */
const OWN_NODE = "/run/errand-node";
const IMAGE_FOLDERS = /^\/(usr|bin|sbin)\//;
const NODE_INSIDE = IMAGE_FOLDERS.test(process.execPath) ? OWN_NODE : process.execPath;

const ISOLATION = [
  ...["--network", "none", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"],
  // Files of the host are mounted under their own labels, which SELinux would not let a container read.
  ...["--security-opt", "label=disable", "--pids-limit"],
];

export interface Mount {
  readonly source: string;
  readonly target: string;
  readonly isWritable?: boolean;
}

/** The command as it has to be started inside. */
export function argvInside(argv: SandboxCommand["argv"]): readonly string[] {
  return argv.map((arg) => (arg === process.execPath ? NODE_INSIDE : arg));
}

export interface NodeProbe {
  readonly name: string;
  readonly image: string;
  readonly needsLibraries: boolean;
  readonly limits: SandboxLimits;
  readonly labels: readonly string[];
}

/** Prints the version of our Node in an image, or fails. The image is a stranger's: it gets no more than any command. */
export function nodeProbeArgs({ image, labels, limits, name, needsLibraries }: NodeProbe): readonly string[] {
  return [
    ...["run", "--pull", "never", "--name", name],
    ...hardening(limits, 1),
    ...labels.flatMap((label) => ["--label", label]),
    ...mountArgs(runtimeMounts(needsLibraries)),
    ...programArgs(needsLibraries),
    ...[image, "--version"],
  ];
}

export function hardening(
  { cpus, fileBytes, memoryBytes, processes }: SandboxLimits,
  hostCpus: number,
): string[] {
  return [
    ...[...ISOLATION, String(processes)],
    // Both the same: no swap besides.
    ...["--memory", String(memoryBytes), "--memory-swap", String(memoryBytes)],
    ...["--cpus", String(Math.min(cpus, hostCpus))],
    ...["--ulimit", `fsize=${fileBytes}:${fileBytes}`, "--ulimit", "core=0:0"],
    ...["--tmpfs", `/tmp:rw,exec,nosuid,nodev,mode=1777,size=${TMP_BYTES}`, "--shm-size", String(TMP_BYTES)],
    // What is said goes to us alone, not also to a file of the daemon that grows without an end.
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

/** Of a place that is named twice the last mount counts: docker would refuse both. */
export function mountArgs(mounts: readonly Mount[]): readonly string[] {
  const byTarget = new Map(mounts.map((mount) => [mount.target, mount]));
  return [...byTarget.values()].flatMap((mount) => ["--mount", fieldsOf(mount).map(quoted).join(",")]);
}

/** Of a source that is not there docker complains. */
function fieldsOf({ isWritable = false, source, target }: Mount): readonly string[] {
  return ["type=bind", `source=${source}`, `target=${target}`, ...(isWritable ? [] : ["readonly"])];
}

/** The fields are those of a line of CSV, in which a quote is doubled. */
function quoted(field: string): string {
  return /[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}
