import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Sandbox } from "../../src/sandboxes/sandbox.ts";
import { SandboxHarness } from "../support/sandbox-harness.ts";
import { waitFor } from "../support/wait-for.ts";

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
    let harness: SandboxHarness;
    beforeEach(async () => {
      harness = await SandboxHarness.open(makeSandbox);
    });
    afterEach(() => harness.close());

    test("a sandbox can be used here", async () => {
      expect(await harness.sandbox.unavailable()).toBeUndefined();
    });

    test("a sandbox runs a command in its directory, with its streams", async () => {
      const cat = harness.shell("pwd; cat; echo complaint >&2");

      cat.stdin.end("from outside");
      const [out, err, exit] = await Promise.all([text(cat.stdout), text(cat.stderr), cat.exited]);

      expect({ out, err, exit }).toEqual({
        out: `${harness.workspace}\nfrom outside`,
        err: "complaint\n",
        exit: { code: 0, signal: null },
      });
    });

    test("a sandbox shows a directory at another path if it can mount", async () => {
      if (!harness.sandbox.hasMounts) {
        return;
      }
      const mounts = [{ source: harness.workspace, target: "/workspace" }];

      const { out } = await harness.run("pwd; echo made > file", { cwd: "/workspace", writable: [], mounts });

      expect(out).toBe("/workspace\n");
      expect(await readFile(join(harness.workspace, "file"), "utf8")).toBe("made\n");
    });

    test("a sandbox gives the command its environment, and nothing of ours", async () => {
      process.env.ERRAND_TEST_CANARY = "canary";

      const { out } = await harness.run("env", {
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

    test("a sandbox gives the command values of several lines, and those that would steer other programs", async () => {
      const env = {
        PATH: "/usr/bin:/bin",
        LINES: "one\ntwo\n",
        DOCKER_HOST: "tcp://127.0.0.1:1",
        NODE_OPTIONS: "--no-such",
      };

      const { code, out } = await harness.run('printf "%s|" "$LINES" "$DOCKER_HOST" "$NODE_OPTIONS"', {
        env,
      });

      expect({ code, out }).toEqual({ code: 0, out: "one\ntwo\n|tcp://127.0.0.1:1|--no-such|" });
    });

    test("the sandbox reports the exit code", async () => {
      expect(await harness.shell("exit 3").exited).toEqual({ code: 3, signal: null });
    });

    test("the sandbox reports that a command was killed", async () => {
      const { code, signal } = await harness.shell("kill -9 $$").exited;

      expect(signal ?? code).toBe(signal === null ? 137 : "SIGKILL");
    });

    test("the sandbox reports why a command could not be started", async () => {
      const process = harness.spawn({ argv: ["/usr/bin/no-such-program"] });

      expect(await process.exited).toMatchObject({
        code: 127,
        reason: expect.stringMatching(/ENOENT|No such file/),
      });
      await process.kill();
    });

    test("a sandbox lets the command write where it may, for the host to read", async () => {
      await harness.run("mkdir a && echo hello > a/b.txt");

      expect(await readFile(join(harness.workspace, "a/b.txt"), "utf8")).toBe("hello\n");
    });

    test("a sandbox lets the command read what it may", async () => {
      const runtime = join(harness.root, "runtime");
      await writeFile(runtime, "program");

      expect((await harness.run(`cat ${runtime}`, { readable: [runtime] })).out).toBe("program");
    });

    test("kill ends a process and what left its group and its session", async () => {
      const seconds = uniqueSeconds();
      const process = harness.shell(`setsid nohup sleep ${seconds} >/dev/null 2>&1 & sleep ${seconds}`);
      await waitFor(async () => (await processesWith(seconds)).length >= 2, { what: "both sleepers" });

      await process.kill();

      expect(await processesWith(seconds)).toEqual([]);
    });

    test("all of many processes have ended when kill resolves", async () => {
      const seconds = uniqueSeconds();
      const crowd = harness.shell(`for n in $(seq 150); do setsid sleep ${seconds} & done; wait`);
      await waitFor(async () => (await processesWith(seconds)).length >= 150, { what: "the crowd" });

      await crowd.kill();

      expect(await processesWith(seconds)).toEqual([]);
    });

    test("kill ends what a process left behind that has ended itself", async () => {
      const seconds = uniqueSeconds();
      const process = harness.shell(`setsid nohup sleep ${seconds} >/dev/null 2>&1 & exit 0`);
      await process.exited;

      await process.kill();

      expect(await processesWith(seconds)).toEqual([]);
    });

    test("kill ends a process that ignores every signal it can, and one that is stopped", async () => {
      const seconds = uniqueSeconds();
      const process = harness.shell(
        `trap '' TERM INT HUP; sh -c 'kill -STOP $$; :' ${seconds} & sleep ${seconds}`,
      );
      await waitFor(async () => (await processesWith(seconds)).length >= 2, { what: "both processes" });

      await process.kill();

      expect(await processesWith(seconds)).toEqual([]);
    });

    test("a sandbox lists what runs inside with its ancestry, and ends only what it is told to", async () => {
      const [left, kept, gone] = [uniqueSeconds(), uniqueSeconds(), uniqueSeconds()];
      const process = harness.shell(
        `sh -c 'sleep ${left} & :'; sleep ${kept} & sh -c 'exec sleep "$0"' '${gone}' & wait`,
      );
      const find = async (seconds: string) =>
        (await process.list()).find(({ argv }) => argv.join(" ") === `sleep ${seconds}`);
      const [orphan, child, victim] = await waitFor(
        async () => {
          const found = await Promise.all([left, kept, gone].map(find));
          const isOrphaned = found[0] !== undefined && found[0].parent === undefined;
          return isOrphaned && found.every((each) => each !== undefined) && found;
        },
        { what: "the three sleepers" },
      );
      const shell = (await process.list()).find(({ pid }) => pid === child?.parent);

      await process.end(
        [victim, { pid: child?.pid ?? 0, startTime: "1", argv: [] }].filter((each) => each !== undefined),
      );

      await waitFor(async () => (await find(gone)) === undefined, { what: "the end of one" });
      expect(shell?.argv[0]).toBe("/bin/sh");
      expect(await find(left)).toEqual(orphan);
      expect(await find(kept)).toEqual(child);
      await process.kill();
      expect(await process.list()).toEqual([]);
    });

    test("kill can be repeated, and comes right after the start or after the end", async () => {
      const seconds = uniqueSeconds();
      const early = harness.shell(`sleep ${seconds}`);
      const ended = harness.shell("true");
      await ended.exited;

      await Promise.all([early.kill(), early.kill(), ended.kill()]);
      await early.kill();

      await early.exited;
      expect(await processesWith(seconds)).toEqual([]);
    });

    test("a sandbox without images announces that and rejects an image", async () => {
      if (harness.sandbox.hasImages) {
        return;
      }

      const refused = harness.spawn({ image: "rust:1" });

      expect(await refused.exited).toMatchObject({ code: 127, reason: expect.stringContaining("rust:1") });
      await refused.kill();
    });

    test("a sandbox runs several commands at once, each with its own streams", async () => {
      const results = await Promise.all(["a", "b", "c"].map((word) => harness.run(`echo ${word}`)));

      expect(results.map(({ out }) => out)).toEqual(["a\n", "b\n", "c\n"]);
    });
  });
}
