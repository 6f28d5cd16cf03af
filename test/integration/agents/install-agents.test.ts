import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { claudeAgent } from "../../../src/agents/claude/claude-agent.ts";

const run = promisify(execFile);
const ENTRY = resolve(import.meta.dirname, "../../../src/main.js");

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "errand-install-"));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const installAgents = (...names: readonly string[]) => call("install-agents", ...names);

function call(...words: readonly string[]) {
  const env = { PATH: process.env.PATH, HOME: dataDir, ERRAND_DATA_DIR: dataDir };
  return run(process.execPath, [ENTRY, ...words], { env });
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

test("agents lists the versions of this machine with their origin", async () => {
  const folder = join(dataDir, "agent-versions/claude");
  await mkdir(join(folder, "99.0.0-12345678"), { recursive: true });
  const record = { catalogue: "0.0.1", inUse: { version: "99.0.0", folder: "99.0.0-12345678" } };
  await writeFile(join(folder, "record.json"), JSON.stringify(record));
  const { version } = claudeAgent.npmPackage ?? {};

  const { stdout } = await call("agents");
  const listed = JSON.parse((await call("agents", "list", "--json")).stdout);

  expect(stdout).toContain(`claude 99.0.0 (chosen here, instead of ${version}; before: ${version})\n`);
  expect(listed).toContainEqual({
    ...{ name: "claude", version: "99.0.0", from: "this machine" },
    ...{ errand_version: version, previous_version: version },
  });
});

test.each([
  [["update", "nobody"], /^There is no agent nobody/],
  [["update", "demo"], /^Demo.* is not installed from npm/],
  [["update"], /^Usage: /],
  [["rollback", "claude"], /^Claude Code stays at .*There is no earlier version/],
  [["other", "claude"], /^Usage: /],
])("agents %j is refused with one line", async (words, line) => {
  await expect(call("agents", ...words)).rejects.toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(line),
  });
});
