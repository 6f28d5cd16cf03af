import { lstat, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { MEBIBYTE } from "../../src/core/basics/byte-units.ts";
import { SYSTEM_CALLS } from "../../src/sandboxes/bubblewrap/system-calls.ts";
import type { Sandbox } from "../../src/sandboxes/sandbox.ts";
import { DEFAULT_SANDBOX_LIMITS, type SandboxLimits } from "../../src/sandboxes/sandbox-limits.ts";
import { readSeccompProfile } from "../../src/sandboxes/seccomp-profile.ts";
import { KEY_NAME, runWithInherited, SESSION_KEYRING } from "../support/inherited-descriptors.ts";
import { SandboxHarness } from "../support/sandbox-harness.ts";
import type { SandboxRun } from "../support/sandbox-run-main.ts";
import { HAS_PERL, type ProbedCall, probeCommand, probedErrors } from "../support/system-call-probe.ts";
import { waitFor } from "../support/wait-for.ts";
import { processesWith, uniqueSeconds } from "./sandbox-contract.ts";

const NARROW = { memoryBytes: 128 * MEBIBYTE, cpus: 0.5, processes: 64, fileBytes: 8 * MEBIBYTE };

const EPERM = 1;
const KEYCTL_SEARCH = 10;
const CLONE_THREAD = 0x1_0000;
const UNKNOWN_FLAG = 1;
const UNKNOWN_TYPE = 99;
const NAMESPACES = [0x2_0000, 0x200_0000, 0x400_0000, 0x800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000];
const FAMILIES = { vsock: 40, packet: 17, alg: 38, tipc: 30 };
const [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, NETLINK_AUDIT] = [1, 2, 10, 16, 9];
const ADDR_NO_RANDOMIZE = 0x4_0000;

/**
 * With these arguments the kernel's own error is another one, except where it requires a capability first: EINVAL for
 * flags that do not fit together.
 */
const REFUSED_ARGUMENTS: readonly ProbedCall[] = [
  ...NAMESPACES.map((flag) => ({ name: "clone", args: [flag + CLONE_THREAD, 0, 0, 0, 0] })),
  ...NAMESPACES.map((flag) => ({ name: "unshare", args: [flag + UNKNOWN_FLAG] })),
  ...Object.values(FAMILIES).map((family) => ({ name: "socket", args: [family, UNKNOWN_TYPE, 0] })),
  { name: "socket", args: [AF_NETLINK, UNKNOWN_TYPE, NETLINK_AUDIT] },
  { name: "socketpair", args: [FAMILIES.tipc, 1, 0, 0] },
  { name: "personality", args: [ADDR_NO_RANDOMIZE] },
];
const REFUSED = [...refusedCalls(), ...REFUSED_ARGUMENTS.map((call) => ({ call, errno: EPERM }))];

const PTRACE_TRACEME = 0;
const NEEDED: readonly ProbedCall[] = [
  ...[AF_UNIX, AF_INET, AF_INET6].map((family) => ({ name: "socket", args: [family, 1, 0] })),
  // Node's os.networkInterfaces.
  { name: "socket", args: [AF_NETLINK, 3, 0] },
  { name: "personality", args: [0xffff_ffff] },
  { name: "unshare", args: [0] },
  { name: "ptrace", args: [PTRACE_TRACEME, 0, 0, 0] },
];

/** Each system call that the profile never allows, with arguments that do no harm. */
function refusedCalls(): readonly { readonly call: ProbedCall; readonly errno: number }[] {
  const { defaultErrnoRet, syscalls } = readSeccompProfile();
  const rules = new Map(syscalls.flatMap((rule) => rule.names.map((each) => [each, rule] as const)));
  return [...(SYSTEM_CALLS.get(process.arch)?.numbers.keys() ?? [])].flatMap((name) => {
    const rule = rules.get(name);
    const call = { name, args: [-1, -1, -1, -1, -1, -1] };
    return rule?.action === "SCMP_ACT_ALLOW" ? [] : [{ call, errno: rule?.errnoRet ?? defaultErrnoRet }];
  });
}

interface HostileOptions {
  /** Why memory and processors are not limited here. */
  readonly unlimited?: string | undefined;
  /** How another process makes the sandbox. Default: bubblewrap. */
  readonly docker?: () => NonNullable<SandboxRun["docker"]>;
}

const RUN_MAIN = join(import.meta.dirname, "../support/sandbox-run-main.ts");
const sandboxRun = z.object({ out: z.string(), err: z.string(), exit: z.object({ code: z.number() }) });

/** What an agent that means harm tries: denied or capped, and those beside it notice nothing. */
export function describeHostileAgent(
  name: string,
  makeSandbox: (dataDir: string, limits: SandboxLimits) => Sandbox,
  { docker, unlimited }: HostileOptions = {},
): void {
  const itLimited = test.skipIf(unlimited !== undefined);
  const itProbes = test.skipIf(!HAS_PERL);
  describe(`a hostile agent in the ${name} sandbox`, () => {
    let harness: SandboxHarness;
    let narrow: SandboxHarness;

    beforeEach(async () => {
      harness = await SandboxHarness.open((dataDir) => makeSandbox(dataDir, DEFAULT_SANDBOX_LIMITS));
      narrow = await SandboxHarness.open((dataDir) => makeSandbox(dataDir, NARROW));
    });
    afterEach(async () => {
      await Promise.all([harness.close(), narrow.close()]);
    });

    test("a hostile agent finds no environment and no memory of this process, nor of another run", async () => {
      const canary = `canary-${crypto.randomUUID()}`;
      const seconds = uniqueSeconds();
      process.env.ERRAND_TEST_CANARY = canary;
      harness.shell(`sleep ${seconds}`, { env: { PATH: "/usr/bin:/bin", OTHER: canary } });
      await waitFor(async () => (await processesWith(seconds)).length > 0, { what: "the other run" });

      const { out } = await harness.run(`
        for each in /proc/[0-9]*; do
          test $each = /proc/$$ || cat $each/environ $each/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -e ^ERRAND_TEST -e ^OTHER= -e ^sleep
        done
        for each in ${process.pid} ${process.ppid}; do
          cat /proc/$each/environ /proc/$each/maps 2>/dev/null
          dd if=/proc/$each/mem bs=1 count=1 2>/dev/null
        done
        dd if=/dev/mem bs=1 count=1 2>/dev/null; dd if=/proc/kcore bs=1 count=1 2>/dev/null | wc -c`);
      delete process.env.ERRAND_TEST_CANARY;

      expect(out).toBe("0\n");
    });

    test("a hostile agent reaches neither the database's socket, nor this machine's ports, nor a cloud's metadata", async () => {
      const socketPath = join(harness.root, ".s.PGSQL.5432");
      const servers = await Promise.all([listen(socketPath), listen(0)]);
      const port = portOf(servers[1]);

      const { out } = await harness.run(
        `ls ${socketPath} 2>/dev/null
        for each in 127.0.0.1/${port} 169.254.169.254/80 1.1.1.1/443; do
          timeout 3 bash -c "exec 3<>/dev/tcp/$each" 2>/dev/null && echo reached $each
          test $? = 124 && echo waited for $each
        done
        grep -v -c -e Inter -e face -e lo: /proc/net/dev`,
      );
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));

      expect(out).toBe("0\n");
    });

    test("a hostile agent sees no file of another run, of the data directory or of this machine's users", async () => {
      const other = join(harness.root, "runs", "other");
      await mkdir(other, { recursive: true });
      await writeFile(join(other, "secret"), "secret");
      await writeFile(join(harness.root, "secret-key"), "secret");

      const { out } = await harness.run(
        `cat ${other}/secret ${harness.root}/secret-key /etc/shadow /root/.bash_history 2>/dev/null; ls ${harness.root}`,
      );

      expect(out).toBe("workspace\n");
    });

    test("a hostile agent does not get out of its workspace by a link", async () => {
      const outside = join(harness.root, "outside");
      await writeFile(outside, "as it was");
      await symlink(outside, join(harness.workspace, "given"));

      await harness.run(
        `cat given > stolen; echo x > given; ln -s ${outside} made; echo x > made; ln -s / all; ls all/root > root`,
      );

      expect(await readFile(outside, "utf8")).toBe("as it was");
      expect(await readFile(join(harness.workspace, "stolen"), "utf8")).toBe("");
      expect((await lstat(join(harness.workspace, "made"))).isSymbolicLink()).toBe(true);
    });

    test("a hostile agent fills its processes and no others, and is ended as a whole", async () => {
      const seconds = uniqueSeconds();
      // The first shell forks once and becomes a program that stays: a failure of its own to fork would end the sandbox.
      const bomb = narrow.shell(`bomb() { sleep ${seconds} & bomb | bomb & }; bomb & exec sleep ${seconds}`);
      bomb.stdout.resume();
      const complaints = text(bomb.stderr);
      // It is given little of the processors, on which others may be at work.
      await waitFor(async () => (await processesWith(seconds)).length > 5, {
        what: "the bomb",
        timeoutMs: 30_000,
      });

      const neighbour = await harness.run("for n in $(seq 100); do sleep 1 & done; wait; echo well");
      const most = (await processesWith(seconds)).length;
      await bomb.kill();

      expect(neighbour).toMatchObject({ out: "well\n", code: 0 });
      expect(most).toBeLessThanOrEqual(NARROW.processes);
      expect(await processesWith(seconds)).toEqual([]);
      expect(await complaints).toMatch(/fork/i);
    });

    itLimited("is ended when it wants more memory than it may have, with the limit named", async () => {
      const neighbour = harness.run("sleep 1; echo well");

      const hog = await narrow.run("head -c 400000000 /dev/zero | tail; exit 1");

      expect(hog).toMatchObject({
        code: 1,
        reason: expect.stringMatching(/128 MiB.*ERRAND_SANDBOX_MEMORY_MIB/),
      });
      expect(await neighbour).toMatchObject({ out: "well\n", code: 0 });
    });

    itLimited("has no memory to hide in /tmp or in shared memory either", async () => {
      const hog = await narrow.run(
        "for n in $(seq 40); do head -c 7000000 /dev/zero > /tmp/$n; head -c 7000000 /dev/zero > /dev/shm/$n; done; exit 1",
      );

      expect(hog.reason ?? hog.err).toMatch(/128 MiB|No space/);
    });

    itLimited("gets its share of the processors and no more", async () => {
      const word = uniqueSeconds();
      narrow.shell(`sh -c 'while :; do :; done' ${word}`);
      await waitFor(async () => (await processesWith(word)).length > 0, { what: "the busy one" });
      const [pid = 0] = await processesWith(word);

      await waitFor(async () => (await timesThrottled(pid)) > 0, { what: "the kernel to keep it waiting" });

      expect(await harness.run("echo well")).toMatchObject({ out: "well\n", code: 0 });
    });

    test("a hostile agent writes no file larger than it may, in its workspace or in /tmp", async () => {
      const { out } = await narrow.run(`
        (truncate -s 50G a) 2>/dev/null; (head -c 50000000 /dev/zero > b) 2>/dev/null
        (head -c 50000000 /dev/zero > /tmp/c) 2>/dev/null; wc -c < /tmp/c`);
      const named = await narrow.run("exec head -c 50000000 /dev/zero > d");

      expect(out.trim()).toBe(String(NARROW.fileBytes));
      expect((await stat(join(narrow.workspace, "a"))).size).toBe(0);
      expect((await stat(join(narrow.workspace, "b"))).size).toBe(NARROW.fileBytes);
      expect(named.reason).toMatch(/8 MiB.*ERRAND_SANDBOX_FILE_MIB/);
    });

    test("an agent whose output is not read is blocked, and can be killed", async () => {
      const before = process.memoryUsage().rss;
      const seconds = uniqueSeconds();
      const talker = harness.shell(`head -c 1000000000 /dev/zero; sleep ${seconds}`);
      await waitFor(() => talker.stdout.readableLength > 0, { what: "its first words" });
      await new Promise((resolve) => talker.stdout.once("readable", resolve));

      const grown = process.memoryUsage().rss - before;
      await talker.kill();

      expect(grown).toBeLessThan(100 * MEBIBYTE);
      expect(await processesWith(seconds)).toEqual([]);
    });

    test("1 GB of agent output is not stored", async () => {
      const before = process.memoryUsage().rss;
      const talker = harness.shell("head -c 1000000000 /dev/zero");
      talker.stderr.resume();
      let bytes = 0;
      for await (const chunk of talker.stdout) {
        bytes += (chunk as Buffer).length;
      }

      expect(bytes).toBe(1_000_000_000);
      expect(process.memoryUsage().rss - before).toBeLessThan(200 * MEBIBYTE);
    });

    test("a hostile agent has no capability and no way to more rights", async () => {
      const { out } = await harness.run(`
        grep -h -E '^Cap(Eff|Prm|Bnd|Inh|Amb)|^NoNewPrivs' /proc/self/status
        unshare --user --map-root-user true 2>/dev/null && echo namespace
        for each in /proc/sys/kernel/core_pattern /proc/sysrq-trigger /usr/x /etc/x /x; do
          (: >> $each) 2>/dev/null && echo $each
        done; true`);

      expect(out.match(/^Cap(Eff|Prm|Inh|Amb|Bnd):\t0+$/gm)).toHaveLength(5);
      expect(out.trim().split("\n").at(-1)).toBe("NoNewPrivs:\t1");
    });

    itProbes("a hostile agent finds no descriptor and no key that the server inherited", async () => {
      const search = [KEYCTL_SEARCH, SESSION_KEYRING, "user", KEY_NAME, 0];
      const script = `
        for each in /proc/[0-9]*/fd/*; do stat -L -c %d:%i $each 2>/dev/null; done
        echo; ${probeCommand([{ name: "keyctl", args: search }])}`;
      const order = { dataDir: harness.workspace, processes: 500, script, docker: docker?.() };

      const { identities, stdout } = await runWithInherited([
        ...[process.execPath, RUN_MAIN, JSON.stringify(order)],
      ]);

      const { out } = sandboxRun.parse(JSON.parse(stdout));
      const [descriptors = "", keys = ""] = out.split("\n\n");
      expect(descriptors.split("\n").length).toBeGreaterThan(3);
      expect(descriptors.split("\n").filter((each) => identities.includes(each))).toEqual([]);
      expect(probedErrors(keys)).toEqual([EPERM]);
    });

    itProbes("a hostile agent makes no system call that the profile does not allow", async () => {
      const { out } = await harness.run(probeCommand(REFUSED.map(({ call }) => call)));

      const errors = probedErrors(out);
      const wrong = REFUSED.flatMap(({ call, errno }, index) =>
        errors[index] === errno ? [] : [`${call.name}(${call.args}): ${errors[index]}`],
      );
      expect(wrong).toEqual([]);
    });

    itProbes("an agent makes the system calls that ordinary programs and debuggers make", async () => {
      const { out } = await harness.run(probeCommand(NEEDED));

      expect(probedErrors(out)).toEqual(NEEDED.map(() => 0));
    });
  });
}

/** By the limit of its cgroup, which the host knows. */
async function timesThrottled(pid: number): Promise<number> {
  const membership = await readFile(`/proc/${pid}/cgroup`, "utf8");
  const path = /^\d+:(?:|.*\bcpu\b.*):(\/.*)$/gm;
  const files = [...membership.matchAll(path)].flatMap(([, own = ""]) => [
    join("/sys/fs/cgroup/cpu", own, "cpu.stat"),
    join("/sys/fs/cgroup", own, "cpu.stat"),
  ]);
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8").catch(() => "")));
  return Math.max(0, ...texts.map((text) => Number(/^nr_throttled (\d+)$/m.exec(text)?.[1] ?? 0)));
}

async function listen(where: string | number): Promise<Server> {
  const server = createServer((socket) => socket.end("reached"));
  if (typeof where === "string") {
    server.listen(where);
  } else {
    server.listen(where, "127.0.0.1");
  }
  await new Promise((resolve) => server.once("listening", resolve));
  return server;
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" ? (address?.port ?? 0) : 0;
}
