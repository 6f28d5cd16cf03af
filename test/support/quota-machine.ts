import { execFile } from "node:child_process";
import { access, chmod, mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const DISK_BYTES = 128 * 2 ** 20;
const MACHINE_MS = 120_000;
const KILL_SIGNAL = "SIGKILL";
/** Debian's packages user-mode-linux, e2fsprogs, quota, kmod and util-linux. */
const PROGRAMS = ["linux.uml", "mkfs.ext4", "setquota", "chattr", "insmod", "setpriv"];
const SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * Why no such machine can be started here, or undefined. In CI nothing is skipped, except on processors with AMX: their
 * registers are more than the kernel of Debian's package can restore, so it panics at its first process ("ptrace set fp
 * regs failed").
 */
export async function reasonToSkipQuotaMachine(): Promise<string | undefined> {
  if (/^flags.* amx_tile\b/m.test(await readFile("/proc/cpuinfo", "utf8").catch(() => ""))) {
    return "User Mode Linux does not run on a processor with AMX";
  }
  const folders = SYSTEM_PATH.split(":");
  for (const name of PROGRAMS) {
    const found = await Promise.any(folders.map((folder) => access(join(folder, name)))).then(
      () => true,
      () => false,
    );
    if (!found) {
      const reason = `there is no ${name}`;
      if (process.env.CI === "true") {
        throw new Error(`Tests need a kernel with quotas where CI=true: ${reason}`);
      }
      return reason;
    }
  }
  return undefined;
}

/**
 * Runs a program of this project in a virtual machine whose disk has project quotas, because the kernel of this machine
 * may have none. The machine has the files of this one. Its arguments are the directory of that disk and the file to
 * which it writes its result. Returns the result.
 */
export async function runOnQuotaDisk(program: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "errand-quota-"));
  try {
    const at = (name: string) => join(folder, name);
    const [disk, init, result] = [at("disk"), at("init"), at("result")];
    await writeFile(disk, "");
    await truncate(disk, DISK_BYTES);
    const system = { env: { PATH: SYSTEM_PATH, HOME: folder } };
    await run("mkfs.ext4", ["-q", "-F", "-O", "quota,project", "-E", "quotatype=prjquota", disk], system);
    await writeFile(init, initScript(program, result));
    await chmod(init, 0o755);
    const args = [
      "mem=512M",
      "rootfstype=hostfs",
      "rw",
      `ubd0=${disk}`,
      `init=${init}`,
      "con=null",
      "con0=null,fd:1",
    ];
    const machine = run("linux.uml", args, { ...system, timeout: MACHINE_MS, killSignal: KILL_SIGNAL });
    machine.child.stdin?.end();
    const { stdout } = await machine;
    return await readFile(result, "utf8").catch(() => {
      throw new Error(`The program in the virtual machine gave no result:\n${stdout}`);
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function initScript(program: string, result: string): string {
  return `#!/bin/sh
export PATH=${SYSTEM_PATH} HOME=/run
mount -t proc proc /proc
mount -t tmpfs tmpfs /run
mkdir /run/disk
for module in quota_tree quota_v2; do
  insmod /usr/lib/uml/modules/$(uname -r)/kernel/fs/quota/$module.ko
done
mount -o prjquota /dev/ubda /run/disk
${process.execPath} ${program} /run/disk ${result}
umount /run/disk
halt -f 2>/dev/null || echo o >/proc/sysrq-trigger
`;
}
