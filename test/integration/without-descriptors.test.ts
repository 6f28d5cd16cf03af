import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

const run = promisify(execFile);
const MAIN = join(import.meta.dirname, "../support/without-descriptors-main.ts");
/** More than this process may have inherited, so that a start has room for them. */
const FEW = 'ulimit -n 512 && exec "$@"';

describe("a process without a file descriptor left", () => {
  test.each(["bubblewrap", "docker attach", "docker call", "git", "local", "npm", "postgres"])(
    "a process without file descriptors survives a start of %s",
    async (what) => {
      const { stdout } = await run("sh", ["-c", FEW, "sh", process.execPath, MAIN, what]);

      expect(stdout).toMatch(/too many files are open/i);
    },
  );
});
