import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";

/** What decides on the host whether an ordinary user may make user namespaces. */
export interface HostFacts {
  readonly isContainer: boolean;
  /** Ubuntu 23.10 and newer: only programs with an AppArmor profile may make user namespaces. */
  readonly restrictedByAppArmor: boolean;
  /** A setting of Debian's and Arch's kernels. */
  readonly forbiddenByKernel: boolean;
  readonly maxUserNamespaces: number;
}

const INSTALL =
  "Install bubblewrap 0.8 or newer (Debian and Ubuntu: apt-get install bubblewrap; Fedora: dnf install bubblewrap).";
const PRLIMIT = "Install util-linux, which contains prlimit.";
const CONTAINER =
  "The container's runtime forbids user namespaces. Start it with the security options of the worker in Errand's " +
  "docker-compose.yml: the seccomp profile worker-seccomp.json, apparmor=unconfined and systempaths=unconfined.";
const APPARMOR =
  "AppArmor forbids user namespaces to programs without a profile. Give bubblewrap one: " +
  "printf '%s\\n' 'abi <abi/4.0>,' 'profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }' " +
  "| sudo tee /etc/apparmor.d/bwrap && sudo systemctl reload apparmor";
const KERNEL = "Allow user namespaces: sudo sysctl -w kernel.unprivileged_userns_clone=1";
const NONE_LEFT = "Allow user namespaces: sudo sysctl -w user.max_user_namespaces=15000";
const NAMESPACES = "Allow unprivileged user namespaces on this machine.";

/** What the operator must do so that bubblewrap works, given the error that it reported. */
export function bubblewrapRemedy(errorText: string, host: HostFacts): string {
  if (/prlimit/.test(errorText)) {
    return PRLIMIT;
  }
  if (/ENOENT|unknown option/i.test(errorText)) {
    return INSTALL;
  }
  if (host.isContainer) {
    // The host's AppArmor restriction applies to the processes of containers too.
    return host.restrictedByAppArmor ? `${CONTAINER} On the host: ${APPARMOR}` : CONTAINER;
  }
  if (host.restrictedByAppArmor) {
    return APPARMOR;
  }
  if (host.forbiddenByKernel) {
    return KERNEL;
  }
  return host.maxUserNamespaces === 0 ? NONE_LEFT : NAMESPACES;
}

export async function readHostFacts(): Promise<HostFacts> {
  const [restriction, clone, max] = await Promise.all([
    read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
    read("/proc/sys/kernel/unprivileged_userns_clone"),
    read("/proc/sys/user/max_user_namespaces"),
  ]);
  return {
    isContainer: ["/.dockerenv", "/run/.containerenv"].some((path) => existsSync(path)),
    restrictedByAppArmor: restriction === "1",
    forbiddenByKernel: clone === "0",
    maxUserNamespaces: max === "" ? Number.POSITIVE_INFINITY : Number(max),
  };
}

/** A kernel without the feature has no such file. */
async function read(path: string): Promise<string> {
  return (await readFile(path, "utf8").catch(() => "")).trim();
}
