import { existsSync, readFileSync } from "node:fs";
import { mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createBubblewrapSandbox } from "../../../src/sandboxes/bubblewrap/bubblewrap-sandbox.ts";
import { findCgroupParents } from "../../../src/sandboxes/bubblewrap/cgroup.ts";
import { DEFAULT_SANDBOX_LIMITS } from "../../../src/sandboxes/sandbox-limits.ts";
import { describeSandbox, processesWith, uniqueSeconds } from "../../contract/sandbox-contract.ts";
import { describePortForward } from "../../contract/sandbox-port-forward-contract.ts";
import { describeSandboxSweep } from "../../contract/sandbox-sweep-contract.ts";
import { bubblewrapIn, reasonToSkipBubblewrap, reasonToSkipCgroups } from "../../support/bubblewrap.ts";
import { SandboxHarness } from "../../support/sandbox-harness.ts";
import { waitFor } from "../../support/wait-for.ts";

const skipped = await reasonToSkipBubblewrap();
const unlimited = skipped ?? (await reasonToSkipCgroups());

describe.skipIf(skipped !== undefined)(
  `bubblewrap${skipped === undefined ? "" : ` (skipped: ${skipped})`}`,
  () => {
    describeSandbox("bubblewrap", bubblewrapIn);
    describePortForward("bubblewrap", bubblewrapIn);
    describeSandboxSweep("bubblewrap", {
      makeSandbox: bubblewrapIn,
      worker: () => ({ kind: "bubblewrap" }),
      endsWithWorker: true,
    });

    describe("isolation of an agent from the host", () => {
      let harness: SandboxHarness;
      beforeEach(async () => {
        harness = await SandboxHarness.open((dataDir) => bubblewrapIn(dataDir));
      });
      afterEach(() => harness.close());

      test("an agent cannot read another run's files, directly or through a link", async () => {
        const other = join(harness.root, "other-run");
        await mkdir(other);
        await writeFile(join(other, "secret.txt"), "secret");
        await symlink(join(other, "secret.txt"), join(harness.workspace, "link"));

        const { out } = await harness.run(
          `cat ${other}/secret.txt link /etc/shadow; ls ${harness.root} /root /home /etc/ssl/private`,
        );

        expect(out.trim()).toBe(`${harness.root}:\nworkspace`);
      });

      test("an agent cannot write to read-only files or create files outside its own directories", async () => {
        const runtime = join(harness.root, "runtime");
        await writeFile(runtime, "program");

        const { out } = await harness.run(
          `touch ${harness.root}/x; for each in ${runtime} /usr/x /x /dev/x; do (echo y > $each) 2>/dev/null && echo $each; done; true`,
          { readable: [runtime] },
        );

        expect(out).toBe("");
        expect(readFileSync(runtime, "utf8")).toBe("program");
        expect(existsSync(join(harness.root, "x"))).toBe(false);
      });

      test("an agent has its own /tmp", async () => {
        const canary = `errand-canary-${crypto.randomUUID()}`;
        await writeFile(join("/tmp", canary), "");

        const { out } = await harness.run("touch /tmp/mine && ls /tmp");
        await rm(join("/tmp", canary));

        expect(out.split("\n")).toContain("mine");
        expect(out).not.toContain(canary);
        expect(existsSync("/tmp/mine")).toBe(false);
      });

      test("a missing readable file is reported", async () => {
        const { exited } = harness.shell("true", { readable: [join(harness.root, "missing")] });

        expect(await exited).toMatchObject({ code: 127, reason: expect.stringContaining("missing") });
      });

      test("an agent cannot reach the host's 127.0.0.1 or any other network", async () => {
        const server = createServer((socket) => socket.end("reached")).listen(0, "127.0.0.1");
        await new Promise((resolve) => server.once("listening", resolve));
        const address = server.address();
        const port = typeof address === "object" ? address?.port : undefined;

        const { out } = await harness.run(`
        bash -c 'cat < /dev/tcp/127.0.0.1/${port}' 2>/dev/null || echo refused
        tail -n +3 /proc/net/dev | grep -v '^ *lo:' | wc -l`);
        await new Promise((resolve) => server.close(resolve));

        expect(out).toBe("refused\n0\n");
      });

      test("an agent sees no process of the host", async () => {
        const { out } = await harness.run(
          "grep -l . /proc/[0-9]*/cmdline | wc -l; cat /proc/*/environ | grep -c VITEST",
        );

        const [processes, environments] = out.split("\n");
        expect(Number(processes)).toBeLessThan(6);
        expect(environments).toBe("0");
      });

      test("an agent has no capability and cannot gain one", async () => {
        const { out } = await harness.run(`
        grep -h -E '^Cap|^NoNewPrivs' /proc/self/status
        unshare --user --map-root-user true 2>/dev/null && echo namespace
        id -u`);

        expect(out.match(/^Cap\w+:\t0+$/gm)).toHaveLength(5);
        expect(out).toContain("NoNewPrivs:\t1");
        expect(out).not.toContain("namespace");
        expect(out).toMatch(/^1000$/m);
      });

      // For these files the kernel checks the user and not the capabilities, so an agent of a root worker could write
      // them.
      test("an agent cannot write kernel settings", async () => {
        const files = [
          "/proc/sys/kernel/core_pattern",
          "/proc/sys/vm/drop_caches",
          "/proc/sysrq-trigger",
          "/proc/irq/default_smp_affinity",
        ];

        const { out } = await harness.run(
          `for each in ${files.join(" ")}; do (: >> $each) 2>/dev/null && echo $each; done; true`,
        );

        expect(out).toBe("");
      });

      test("an agent's environment variables appear in no argument of a host process", async () => {
        const seconds = uniqueSeconds();
        const secret = `canary-${seconds}`;
        harness.shell(`sleep ${seconds}`, { env: { PATH: "/usr/bin:/bin", SECRET: secret } });
        await waitFor(async () => (await processesWith(seconds)).length > 0, { what: "the sleeper" });

        expect(await processesWith(secret)).toEqual([]);
        expect(await processesWith("--setenv")).toEqual([]);
      });

      test("a command is not started if its limits cannot be set", async () => {
        const impossible = await SandboxHarness.open((dataDir) => bubblewrapIn(dataDir, { processes: -5 }));

        const exit = await impossible.shell("touch started").exited;
        const wasStarted = existsSync(join(impossible.workspace, "started"));
        await impossible.close();

        expect(exit).toMatchObject({ code: 127, reason: expect.stringContaining("limits could not be set") });
        expect(wasStarted).toBe(false);
      });

      test.skipIf(unlimited !== undefined)("an ended command leaves no cgroup", async () => {
        const own = await harness.run("cat /proc/self/cgroup");
        const path = own.out.match(/(errand-\S+)$/m)?.[1];
        expect(path).toBeDefined();

        await waitFor(async () => (await listCgroups()).every((name) => name !== path), {
          what: "its end",
        });
      });

      test("the agent's LD_PRELOAD has no effect outside the sandbox", async () => {
        const { err, code } = await harness.run("unset LD_PRELOAD; true", {
          env: { PATH: "/usr/bin:/bin", LD_PRELOAD: "/no/such/library.so" },
        });

        // Only the shell in the sandbox complains. Outside, bubblewrap and its helper would complain as well.
        expect(err.match(/no\/such\/library/g)).toHaveLength(1);
        expect(code).toBe(0);
      });
    });
  },
);

test("a missing bubblewrap is reported with a remedy", async () => {
  const problem = await createBubblewrapSandbox({
    ...{ dataDir: "/nowhere", limits: DEFAULT_SANDBOX_LIMITS },
    program: "/usr/bin/no-such-bwrap",
  }).unavailable();

  expect(problem).toMatch(/no-such-bwrap is not installed\. Install bubblewrap/);
});

/** Returns the names of all cgroups of sandboxes on this machine. */
async function listCgroups(): Promise<readonly string[]> {
  const cgroupParents = await findCgroupParents();
  return (await Promise.all(cgroupParents.map(({ directory }) => readdir(directory)))).flat();
}
