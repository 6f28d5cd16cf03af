import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { SandboxCommand } from "../sandbox.ts";
import { TMP_BYTES } from "../sandbox-limits.ts";

/** Inside, the user of the worker has this id and owns the workspace. */
const INSIDE_ID = "1000";

const ISOLATION = [
  ...[
    "--unshare-user",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
  ],
  // Every new user namespace is an attack surface of the kernel, and no agent needs one.
  ...["--disable-userns", "--uid", INSIDE_ID, "--gid", INSIDE_ID, "--hostname", "errand"],
  ...["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"],
];

const SYSTEM_DIRECTORIES = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"];

/** Not all of /etc, because it contains the host's names, users and private keys. */
const SYSTEM_FILES = [
  ...["/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime"],
  ...[
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/ca-certificates",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/certs",
  ],
];

/**
 * If the worker is root, the agent is root for the host's kernel too, though without capabilities. Then /proc/sys and
 * similar paths would be writable, because the kernel checks the user there and not capabilities. So they are covered
 * as container runtimes do (https://github.com/opencontainers/runtime-spec, maskedPaths and readonlyPaths).
 */
const READ_ONLY_PROC = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"];
const HIDDEN_PROC_DIRECTORIES = ["/proc/acpi", "/proc/asound", "/proc/scsi"];
const HIDDEN_PROC_FILES = [
  ...[
    "/proc/kcore",
    "/proc/keys",
    "/proc/latency_stats",
    "/proc/sched_debug",
    "/proc/timer_list",
    "/proc/timer_stats",
  ],
  ...["/proc/mtrr", "/proc/interrupts"],
];

const OWN_ETC = join(import.meta.dirname, "etc");

/** All arguments of bubblewrap, in the order of its mounts. Later mounts cover earlier ones. */
export function bubblewrapArgs(command: SandboxCommand): readonly string[] {
  return [
    ...ISOLATION,
    ...SYSTEM_DIRECTORIES.flatMap(systemDirectory),
    ...SYSTEM_FILES.flatMap((path) => ["--ro-bind-try", path, path]),
    ...["passwd", "group", "hosts"].flatMap((name) => ["--ro-bind", join(OWN_ETC, name), `/etc/${name}`]),
    ...privateFileSystems(),
    ...command.readable.flatMap((path) => withRealPath(path).flatMap((each) => ["--ro-bind", each, each])),
    ...command.writable.flatMap((path) => ["--bind", path, path]),
    ...(command.mounts ?? []).flatMap(({ source, target }) => ["--bind", source, target]),
    ...["--remount-ro", "/dev", "--remount-ro", "/"],
    ...Object.entries(command.env).flatMap(([name, value]) => ["--setenv", name, value]),
    ...["--chdir", command.cwd],
  ];
}

/** On most systems /bin is a link to /usr/bin and must remain one. */
function systemDirectory(path: string): readonly string[] {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) {
    return [];
  }
  return stat.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
}

function privateFileSystems(): readonly string[] {
  return [
    ...["--proc", "/proc"],
    ...READ_ONLY_PROC.filter(existsSync).flatMap((path) => ["--ro-bind", path, path]),
    ...HIDDEN_PROC_DIRECTORIES.filter(existsSync).flatMap((path) => ["--tmpfs", path, "--remount-ro", path]),
    ...HIDDEN_PROC_FILES.filter(existsSync).flatMap((path) => ["--ro-bind", "/dev/null", path]),
    ...[
      "--dev",
      "/dev",
      "--size",
      String(TMP_BYTES),
      "--tmpfs",
      "/dev/shm",
      "--size",
      String(TMP_BYTES),
      "--tmpfs",
      "/tmp",
    ],
  ];
}

/** A program finds its files by their real path. bubblewrap rejects a path that does not exist. */
function withRealPath(path: string): readonly string[] {
  return existsSync(path) ? [...new Set([path, realpathSync(path)])] : [path];
}
