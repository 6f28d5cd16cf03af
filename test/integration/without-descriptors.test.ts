import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

const run = promisify(execFile);
const MAIN = join(import.meta.dirname, "../support/without-descriptors-main.ts");
const FEW = 'ulimit -n 64 && exec "$@"';

describe("a process without a file descriptor left", () => {
  test.each(["bubblewrap", "docker", "git", "local", "npm", "postgres"])(
    "a process without file descriptors survives a start of %s",
    async (what) => {
      const { stdout } = await run("sh", ["-c", FEW, "sh", process.execPath, MAIN, what]);

      expect(stdout).toMatch(/too many files are open/i);
    },
  );
});
