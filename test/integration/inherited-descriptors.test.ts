import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { makeDataDirPath } from "../support/data-dir.ts";
import { runWithInherited } from "../support/inherited-descriptors.ts";
import { HAS_PERL } from "../support/system-call-probe.ts";
import { waitFor } from "../support/wait-for.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../..");
const MAIN = join(ROOT, "test/support/inherited-descriptors-main.ts");
const seenByKind = z.record(z.string(), z.array(z.string()));

describe.skipIf(process.platform !== "linux" || !HAS_PERL)("a process that inherited descriptors", () => {
  test("none of the programs that it starts gets one of them", async () => {
    const { identities, stdout } = await runWithInherited([process.execPath, MAIN]);

    const seen = seenByKind.parse(JSON.parse(stdout));
    const inherited = Object.entries(seen).map(([kind, descriptors]) => [
      kind,
      descriptors.filter((each) => identities.includes(each)).length,
    ]);
    expect(identities).toHaveLength(12);
    expect(Object.fromEntries(inherited)).toEqual({
      // Node closes the lowest ones.
      unprotected: 8,
      bubblewrap: 0,
      "docker call": 0,
      "docker attach": 0,
      git: 0,
      local: 0,
      npm: 0,
      postgres: 0,
    });
  });

  test("the embedded database of a server gets none of them", async () => {
    const dataDir = await makeDataDirPath();
    const args = ["-c", 'exec 200<"$0" && exec "$@"', MAIN, process.execPath, join(ROOT, "src/main.js")];
    const env = {
      PATH: process.env.PATH,
      ERRAND_DATA_DIR: dataDir,
      ERRAND_PORT: "0",
      ERRAND_SANDBOX: "local",
    };
    const server = spawn("bash", args, { cwd: tmpdir(), env, stdio: "ignore" });
    onTestFinished(async () => {
      const ended = once(server, "close");
      server.kill("SIGKILL");
      await ended;
    });
    const pidFile = join(dataDir, "postgres/postmaster.pid");

    const text = await waitFor(() => readFile(pidFile, "utf8"), { what: "the database to start" });

    expect(await openFilesOf(server.pid)).toContain(await identityOf(MAIN));
    const database = await openFilesOf(Number.parseInt(text, 10));
    expect(database).not.toEqual([]);
    expect(database).not.toContain(await identityOf(MAIN));
  });

  test("the server does not start with a descriptor whose number is too high to replace", async () => {
    const script = 'ulimit -n 512 && exec 500</dev/null && exec "$@"';

    const start = run("bash", ["-c", script, "bash", process.execPath, join(ROOT, "src/main.js")]);

    await expect(start).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/above 448 \(500\).*exec 500>&-/),
    });
  });
});

async function openFilesOf(pid: number | undefined): Promise<readonly string[]> {
  const folder = `/proc/${pid}/fd`;
  const names = await readdir(folder);
  // A descriptor may be closed meanwhile.
  return Promise.all(names.map((name) => identityOf(join(folder, name)).catch(() => "closed")));
}

async function identityOf(path: string): Promise<string> {
  const { dev, ino } = await stat(path);
  return `${dev}:${ino}`;
}
