import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const run = promisify(execFile);
const MAIN = resolve(import.meta.dirname, "../../src/main.js");

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "errand-env-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** What a start that fails prints. */
async function start(env: Record<string, string> = {}): Promise<string> {
  const failed = await run(process.execPath, [MAIN], { cwd: folder, env }).catch((error) => error);
  return failed.stderr;
}

test("the start reads the file .env of its directory, and a variable that is set takes precedence", async () => {
  await writeFile(join(folder, ".env"), "ERRAND_PORT='one'\nERRAND_CONCURRENCY=\"two\"\nOTHER=three\n");

  const alone = await start();
  const overridden = await start({ ERRAND_PORT: "four" });

  expect(alone).toContain('ERRAND_PORT: must be a whole number from 0 to 65535, not "one"');
  expect(alone).toContain('not "two"');
  expect(overridden).toContain('not "four"');
});

test("a file .env that cannot be read stops the start", async () => {
  await rm(join(folder, ".env"));
  await mkdir(join(folder, ".env"));

  expect(await start()).toMatch(/^The file \.env cannot be read: /);
});
