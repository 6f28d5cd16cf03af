import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  compileFilter,
  encodeFilter,
  type Instruction,
} from "../../../src/sandboxes/bubblewrap/seccomp-filter.ts";
import { SYSTEM_CALLS, type SystemCalls } from "../../../src/sandboxes/bubblewrap/system-calls.ts";
import { readSeccompProfile } from "../../../src/sandboxes/seccomp-profile.ts";

const EPERM = "EPERM";
const ENOSYS = "ENOSYS";
const ALLOWED = "allowed";
const RESULTS = new Map([
  [0x7fff_0000, ALLOWED],
  [0x0005_0001, EPERM],
  [0x0005_0026, ENOSYS],
  [0x8000_0000, "killed"],
]);

const MAX_INSTRUCTIONS = 4_096;
const X32 = 0x4000_0000;
const AUDIT_ARCH_I386 = 0x4000_0003;
const NAMESPACES = {
  CLONE_NEWNS: 0x2_0000,
  CLONE_NEWCGROUP: 0x200_0000,
  CLONE_NEWUTS: 0x400_0000,
  CLONE_NEWIPC: 0x800_0000,
  CLONE_NEWUSER: 0x1000_0000,
  CLONE_NEWPID: 0x2000_0000,
  CLONE_NEWNET: 0x4000_0000,
};
const CLONE_NEWTIME = 0x80;
/** The flags by which glibc starts a thread, and those of a fork. */
const THREAD_FLAGS = 0x3d_0f00;
const FORK_FLAGS = 0x120_0011;
/** The kernel ignores the upper half of most arguments, and a filter must not be deceived by it. */
const UPPER_HALF = 1n << 32n;

const profile = readSeccompProfile();

/** What the profile says of a call: its name, its arguments, and the result. */
const CONDITIONAL: readonly (readonly [name: string, args: readonly (number | bigint)[], result: string])[] =
  [
    ["clone", [THREAD_FLAGS], ALLOWED],
    ["clone", [FORK_FLAGS], ALLOWED],
    ...Object.values(NAMESPACES).flatMap((flag) => [
      ["clone", [flag | 17], EPERM] as const,
      ["clone", [BigInt(flag) + UPPER_HALF], EPERM] as const,
      ["unshare", [flag], EPERM] as const,
      ["unshare", [BigInt(flag) + UPPER_HALF], EPERM] as const,
    ]),
    ["unshare", [CLONE_NEWTIME], EPERM],
    ["unshare", [0], ALLOWED],
    // CLONE_FS and CLONE_FILES.
    ["unshare", [0x600], ALLOWED],
    ["socket", [1, 1, 0], ALLOWED],
    ["socket", [2, 1, 0], ALLOWED],
    ["socket", [10, 2, 17], ALLOWED],
    ["socket", [16, 3, 0], ALLOWED],
    ...Array.from({ length: 22 }, (_, index) => ["socket", [16, 3, index + 1], EPERM] as const),
    ...[0, 3, 4, 5, 8, 15, 17, 21, 23, 29, 30, 31, 37, 38, 40, 41, 42, 43, 44, 45, -1].map(
      (family) => ["socket", [family, 1, 0], EPERM] as const,
    ),
    ["socket", [40n + UPPER_HALF, 1, 0], EPERM],
    ["socket", [16n + UPPER_HALF, 3, 9], EPERM],
    ["socketpair", [1, 1, 0], ALLOWED],
    ["socketpair", [30, 1, 0], EPERM],
    ["personality", [0], ALLOWED],
    ["personality", [8], ALLOWED],
    ["personality", [0xffff_ffff], ALLOWED],
    // ADDR_NO_RANDOMIZE, READ_IMPLIES_EXEC, MMAP_PAGE_ZERO.
    ["personality", [0x4_0000], EPERM],
    ["personality", [0x40_0000], EPERM],
    ["personality", [0x10_0000], EPERM],
  ];

/** Named one by one, so that a change of the profile cannot allow one of them unnoticed. */
const FORBIDDEN = {
  [EPERM]: `
    acct add_key bpf chroot clock_adjtime clock_settime delete_module fanotify_init finit_module get_mempolicy init_module
    kcmp kexec_load keyctl lookup_dcookie mbind mount move_pages nfsservctl open_by_handle_at perf_event_open pivot_root
    quotactl reboot request_key set_mempolicy setdomainname sethostname setns settimeofday swapoff swapon
    syslog umount2 userfaultfd vhangup`,
  [ENOSYS]: `
    clone3 file_setattr fsconfig fsmount fsopen fspick io_uring_enter io_uring_register io_uring_setup listmount memfd_secret
    mount_setattr move_mount open_tree open_tree_attr pidfd_getfd process_madvise quotactl_fd statmount`,
};
const USED = `
  accept4 bind brk close close_range connect copy_file_range dup3 epoll_pwait2 execve exit_group faccessat2 fchmodat2 fcntl
  flock fstat futex futex_waitv getdents64 getrandom inotify_init1 ioctl landlock_restrict_self memfd_create mmap mprotect
  newfstatat openat openat2 pidfd_open pidfd_send_signal ppoll prctl prlimit64 process_vm_readv process_vm_writev ptrace
  read rseq sched_setaffinity seccomp sendmsg set_robust_list statx tgkill timer_create wait4 waitid write`;

describe.each([...SYSTEM_CALLS])("the system call filter for %s", (_processor, systemCalls) => {
  const filter = compileFilter(profile, systemCalls);
  const call = (name: string, args: readonly (number | bigint)[] = []): string =>
    interpret(filter, systemCalls.auditArch, numberOf(systemCalls, name), args);

  test.each(CONDITIONAL)("%s with the arguments %s is %s", (name, args, result) => {
    expect(call(name, args)).toBe(result);
  });

  test.each([
    ...wordsOf(FORBIDDEN[EPERM]).map((name) => [name, EPERM] as const),
    ...wordsOf(FORBIDDEN[ENOSYS]).map((name) => [name, ENOSYS] as const),
    ...wordsOf(USED).map((name) => [name, ALLOWED] as const),
  ])("%s is %s", (name, result) => {
    expect(call(name)).toBe(result);
  });

  test("each system call has the result that the profile gives it", () => {
    const rules = new Map(
      profile.syscalls.flatMap((rule) =>
        rule.args.length > 0 ? [] : rule.names.map((name) => [name, rule] as const),
      ),
    );
    const conditional = new Set(CONDITIONAL.map(([name]) => name));
    const expected = [...systemCalls.numbers.keys()]
      .filter((name) => !conditional.has(name))
      .map((name) => [name, RESULTS.get(profileResult(rules.get(name)))]);

    expect(expected.map(([name = ""]) => [name, call(name)])).toEqual(expected);
  });

  test("calls that are unknown to the filter end with ENOSYS", () => {
    const next = Math.max(...systemCalls.numbers.values()) + 1;

    for (const number of [next, next + 1_000, X32, X32 + 1, 0xffff_ffff]) {
      expect(interpret(filter, systemCalls.auditArch, number)).toBe(ENOSYS);
    }
  });

  test("programs for other processors are killed", () => {
    const others = [...SYSTEM_CALLS.values()].map(({ auditArch }) => auditArch);

    for (const arch of [AUDIT_ARCH_I386, 0, ...others].filter((each) => each !== systemCalls.auditArch)) {
      expect(interpret(filter, arch, numberOf(systemCalls, "read"))).toBe("killed");
    }
  });

  test("the kernel accepts the form of the filter", () => {
    const bytes = encodeFilter(filter);

    expect(bytes).toHaveLength(8 * filter.length);
    expect(filter.length).toBeLessThan(MAX_INSTRUCTIONS);
    expect(decode(bytes)).toEqual(filter);
  });
});

test("every system call that the profile names exists on a processor with a filter", () => {
  const known = new Set([...SYSTEM_CALLS.values()].flatMap(({ numbers }) => [...numbers.keys()]));

  expect(profile.syscalls.flatMap(({ names }) => names).filter((name) => !known.has(name))).toEqual([]);
});

test("the profile of the worker's container allows all that commands in its sandboxes may use", () => {
  const names = z.object({ syscalls: z.array(z.object({ names: z.array(z.string()), action: z.string() })) });
  const worker = names.parse(
    JSON.parse(readFileSync(join(import.meta.dirname, "../../../worker-seccomp.json"), "utf8")),
  );
  const allowed = ({ syscalls }: z.infer<typeof names>) =>
    syscalls.filter(({ action }) => action === "SCMP_ACT_ALLOW").flatMap((rule) => rule.names);

  const missing = allowed(profile).filter((name) => !allowed(worker).includes(name));

  expect(missing).toEqual([]);
});

function profileResult(rule: (typeof profile.syscalls)[number] | undefined): number {
  if (rule === undefined) {
    return 0x0005_0000 + profile.defaultErrnoRet;
  }
  return rule.action === "SCMP_ACT_ALLOW" ? 0x7fff_0000 : 0x0005_0000 + rule.errnoRet;
}

function numberOf({ numbers }: SystemCalls, name: string): number {
  const number = numbers.get(name);
  if (number === undefined) {
    throw new Error(`There is no system call ${name}.`);
  }
  return number;
}

function wordsOf(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

function decode(bytes: Buffer): readonly Instruction[] {
  return Array.from({ length: bytes.length / 8 }, (_, index) => ({
    code: bytes.readUInt16LE(8 * index),
    jt: bytes.readUInt8(8 * index + 2),
    jf: bytes.readUInt8(8 * index + 3),
    k: bytes.readUInt32LE(8 * index + 4),
  }));
}

/** Does what the kernel does with a filter (net/core/filter.c), and fails where the kernel would reject it. */
function interpret(
  filter: readonly Instruction[],
  arch: number,
  number: number,
  args: readonly (number | bigint)[] = [],
): string {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(arch, 4);
  for (const [index, value] of args.entries()) {
    data.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)), 16 + 8 * index);
  }
  let accumulator = 0;
  for (let at = 0; at < filter.length; at += 1) {
    const { code, jf, jt, k } = filter[at] as Instruction;
    switch (code) {
      case 0x20:
        accumulator = data.readUInt32LE(k);
        break;
      case 0x54:
        accumulator = (accumulator & k) >>> 0;
        break;
      case 0x15:
        at += accumulator === k ? jt : jf;
        break;
      case 0x25:
        at += accumulator > k ? jt : jf;
        break;
      case 0x35:
        at += accumulator >= k ? jt : jf;
        break;
      case 0x06:
        return RESULTS.get(k) ?? `unknown result ${k}`;
      default:
        throw new Error(`The kernel knows no instruction ${code}.`);
    }
  }
  throw new Error("The filter has no result.");
}
