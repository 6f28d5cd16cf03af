import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";

const run = promisify(execFile);
const ENTRY = resolve(import.meta.dirname, "../../../src/main.js");

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "errand-install-"));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

function installAgents(...names: readonly string[]) {
  const env = { PATH: process.env.PATH, HOME: dataDir, ERRAND_DATA_DIR: dataDir };
  return run(process.execPath, [ENTRY, "install-agents", ...names], { env });
}

test("agents:install without a name prepares the agent of runs that name none", async () => {
  const { stdout } = await installAgents();

  expect(stdout).toContain("needs no installation");
});

test("agents:install refuses a name that is not in the catalogue", async () => {
  await expect(installAgents("demo", "nobody")).rejects.toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^There is no agent nobody\. There are: codex, /),
  });
});
