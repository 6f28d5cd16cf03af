import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createRestrictedSandbox } from "../../../src/sandboxes/restricted/restricted-sandbox.ts";
import { SandboxHarness } from "../../support/sandbox-harness.ts";

/** Reports what it may do. */
const PROGRAM = `
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
const [outside, inside] = process.argv.slice(2);
const tries = {
  run: () => execFileSync("/bin/true"),
  read: () => readFileSync(outside),
  write: () => writeFileSync(outside, "changed"),
  own: () => writeFileSync(inside, "made"),
};
const done = Object.keys(tries).filter((name) => { try { tries[name](); return true; } catch { return false; } });
console.log(JSON.stringify({ done, names: Object.keys(process.env).sort() }));
`;

describe("the restricted sandbox", () => {
  let harness: SandboxHarness;
  beforeEach(async () => {
    harness = await SandboxHarness.open(createRestrictedSandbox);
  });
  afterEach(() => harness.close());

  test("Errand's own program starts no other, uses only its files, and gets no variable of a user", async () => {
    const [program, outside] = [join(harness.root, "program.mjs"), join(harness.root, "secret-key")];
    await writeFile(program, PROGRAM);
    await writeFile(outside, "secret");
    await writeFile(join(harness.workspace, "evil.cjs"), "process.exit(9)");

    const own = harness.spawn({
      argv: [process.execPath, program, outside, join(harness.workspace, "own")],
      env: {
        PATH: "/usr/bin:/bin",
        HOME: harness.workspace,
        NODE_OPTIONS: "--require ./evil.cjs",
        TOKEN: "x",
      },
      readable: [program],
      isBuiltIn: true,
    });
    const [out, exit] = await Promise.all([text(own.stdout), own.exited]);

    expect(exit).toEqual({ code: 0, signal: null });
    expect(JSON.parse(out)).toEqual({ done: ["own"], names: ["ERRAND_SANDBOX_ID", "HOME", "PATH"] });
  });

  test("no other program is started, and the refusal has a remedy", async () => {
    const marker = join(harness.workspace, "ran");

    const shell = await harness.shell(`touch ${marker}`).exited;
    const disguised = await harness.shell(`touch ${marker}`, { isBuiltIn: true }).exited;
    const node = await harness.spawn({ argv: [process.execPath, "--eval", ""] }).exited;

    for (const exit of [shell, disguised, node]) {
      expect(exit).toMatchObject({
        code: 127,
        reason: expect.stringMatching(/no sandbox/),
        remedy: expect.stringMatching(/Install bubblewrap or docker/),
      });
    }
    expect((await harness.sandbox.weaknesses())[0]).toMatch(/Only the demo agent runs/);
  });
});
