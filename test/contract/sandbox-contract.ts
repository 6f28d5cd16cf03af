import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Sandbox, SandboxCommand, SandboxExit, SandboxProcess } from "../../src/sandboxes/sandbox.ts";
import { waitFor } from "../support/wait-for.ts";

/** The directories of a test, and what it started in them. */
export class SandboxBench {
  readonly root: string;
  readonly workspace: string;
  readonly sandbox: Sandbox;
  readonly #started: SandboxProcess[] = [];

  private constructor(sandbox: Sandbox, root: string) {
    this.sandbox = sandbox;
    this.root = root;
    this.workspace = join(root, "workspace");
  }

  static async open(makeSandbox: (dataDir: string) => Sandbox): Promise<SandboxBench> {
    const root = await mkdtemp(join(tmpdir(), "errand-sandbox-"));
    const bench = new SandboxBench(makeSandbox(root), root);
    await mkdir(bench.workspace, { mode: 0o700 });
    return bench;
  }

  /** Kills what the test left, so that no test hands processes on to the next. */
  async close(): Promise<void> {
    await Promise.all(this.#started.map((process) => process.kill()));
    await rm(this.root, { recursive: true, force: true });
  }

  spawn(changes: Partial<SandboxCommand>): SandboxProcess {
    const command = {
      argv: ["/bin/sh", "-c", "true"] as const,
      env: { PATH: "/usr/bin:/bin" },
      cwd: this.workspace,
      writable: [this.workspace],
      readable: [],
      ...changes,
    };
    const process = this.sandbox.spawn(command);
    process.stdin.on("error", () => {});
    this.#started.push(process);
    return process;
  }

  shell(script: string, changes: Partial<SandboxCommand> = {}): SandboxProcess {
    return this.spawn({ argv: ["/bin/sh", "-c", script], ...changes });
  }

  /** What a script says and how it ends. */
  async run(
    script: string,
    changes: Partial<SandboxCommand> = {},
  ): Promise<SandboxExit & { out: string; err: string }> {
    const process = this.shell(script, changes);
    const [out, err, exit] = await Promise.all([text(process.stdout), text(process.stderr), process.exited]);
    return { ...exit, out, err };
  }
}

/** A number of seconds that no other process sleeps, by which a test finds its own. */
export function uniqueSeconds(): string {
  return `1000.${Math.floor(Math.random() * 1e9)}`;
}

/** The processes of this machine, sandboxes included, with `word` in their command line. */
export async function processesWith(word: string): Promise<readonly number[]> {
  const pids = (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const commandLine = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
      return commandLine.split("\0").includes(word) ? [Number(pid)] : [];
    }),
  );
  return found.flat();
}

/** What every sandbox promises, whatever it is made of. */
export function describeSandbox(name: string, makeSandbox: (dataDir: string) => Sandbox): void {
  describe(`the ${name} sandbox`, () => {
    let bench: SandboxBench;
    beforeEach(async () => {
      bench = await SandboxBench.open(makeSandbox);
    });
    afterEach(() => bench.close());

    it("can be used here", async () => {
      expect(await bench.sandbox.unavailable()).toBeUndefined();
    });

    it("runs a command in its directory, with its streams", async () => {
      const cat = bench.shell("pwd; cat; echo complaint >&2");

      cat.stdin.end("from outside");
      const [out, err, exit] = await Promise.all([text(cat.stdout), text(cat.stderr), cat.exited]);

      expect({ out, err, exit }).toEqual({
        out: `${bench.workspace}\nfrom outside`,
        err: "complaint\n",
        exit: { code: 0, signal: null },
      });
    });

    it("gives the command its environment, and nothing of ours", async () => {
      process.env.ERRAND_TEST_CANARY = "canary";

      const { out } = await bench.run("env", {
        env: { PATH: "/usr/bin:/bin", GREETING: "hello=you; $HOME 'x'" },
      });
      delete process.env.ERRAND_TEST_CANARY;

      const allowed = /^(PATH|GREETING|PWD|SHLVL|_|OLDPWD|ERRAND_SANDBOX_ID)=/;
      expect(out.split("\n")).toContain("GREETING=hello=you; $HOME 'x'");
      expect(
        out
          .trim()
          .split("\n")
          .filter((line) => !allowed.test(line)),
      ).toEqual([]);
    });

    it("tells the exit code", async () => {
      expect(await bench.shell("exit 3").exited).toEqual({ code: 3, signal: null });
    });

    it("tells of a command that was killed", async () => {
      const { code, signal } = await bench.shell("kill -9 $$").exited;

      expect(signal ?? code).toBe(signal === null ? 137 : "SIGKILL");
    });

    it("tells why a command could not be started", async () => {
      const process = bench.spawn({ argv: ["/usr/bin/no-such-program"] });

      expect(await process.exited).toMatchObject({
        code: 127,
        reason: expect.stringMatching(/ENOENT|No such file/),
      });
      await process.kill();
    });

    it("lets the command write where it may, for the host to read", async () => {
      await bench.run("mkdir a && echo hello > a/b.txt");

      expect(await readFile(join(bench.workspace, "a/b.txt"), "utf8")).toBe("hello\n");
    });

    it("lets the command read what it may", async () => {
      const runtime = join(bench.root, "runtime");
      await writeFile(runtime, "program");

      expect((await bench.run(`cat ${runtime}`, { readable: [runtime] })).out).toBe("program");
    });

    it("kill ends a process and what left its group and its session", async () => {
      const seconds = uniqueSeconds();
      const process = bench.shell(`setsid nohup sleep ${seconds} >/dev/null 2>&1 & sleep ${seconds}`);
      await waitFor(async () => (await processesWith(seconds)).length >= 2, { what: "both sleepers" });

      await process.kill();

      expect(await processesWith(seconds)).toEqual([]);
    });

    it("kill has ended a crowd when it resolves", async () => {
      const seconds = uniqueSeconds();
      const crowd = bench.shell(`for n in $(seq 150); do setsid sleep ${seconds} & done; wait`);
      await waitFor(async () => (await processesWith(seconds)).length >= 150, { what: "the crowd" });

      await crowd.kill();

      expect(await processesWith(seconds)).toEqual([]);
    });

    it("kill ends what a process left behind that has ended itself", async () => {
      const seconds = uniqueSeconds();
      const process = bench.shell(`setsid nohup sleep ${seconds} >/dev/null 2>&1 & exit 0`);
      await process.exited;

      await process.kill();

      expect(await processesWith(seconds)).toEqual([]);
    });

    it("kill ends a process that ignores every signal it can, and one that is stopped", async () => {
      const seconds = uniqueSeconds();
      const process = bench.shell(
        `trap '' TERM INT HUP; sh -c 'kill -STOP $$; :' ${seconds} & sleep ${seconds}`,
      );
      await waitFor(async () => (await processesWith(seconds)).length >= 2, { what: "both processes" });

      await process.kill();

      expect(await processesWith(seconds)).toEqual([]);
    });

    it("kill can be repeated, and comes right after the start or after the end", async () => {
      const seconds = uniqueSeconds();
      const early = bench.shell(`sleep ${seconds}`);
      const ended = bench.shell("true");
      await ended.exited;

      await Promise.all([early.kill(), early.kill(), ended.kill()]);
      await early.kill();

      await early.exited;
      expect(await processesWith(seconds)).toEqual([]);
    });
  });
}
