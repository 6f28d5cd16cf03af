import { execFile } from "node:child_process";
import { copyFile, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { beforeEach, describe, expect, test } from "vitest";
import { makeTemporaryFolder } from "../support/data-dir.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const CLIENT = "src/storage/generated";
const run = promisify(execFile);

/** The files of a clone that the generator and the guard of the start need. */
const FILES = [
  "package.json",
  "prisma.config.ts",
  "prisma/schema.prisma",
  "scripts/generate-client.js",
  "src/main.js",
];

test("git has no file of the generated client", async () => {
  const { stdout } = await run("git", ["ls-files", CLIENT], { cwd: ROOT });

  expect(stdout).toBe("");
});

describe("a clone", () => {
  let clone: string;

  beforeEach(async () => {
    clone = await makeTemporaryFolder();
    for (const file of FILES) {
      await mkdir(join(clone, file, ".."), { recursive: true });
      await copyFile(join(ROOT, file), join(clone, file));
    }
    await symlink(join(ROOT, "node_modules"), join(clone, "node_modules"));
  });

  const generate = () => run(process.execPath, ["scripts/generate-client.js"], { cwd: clone });

  /** What the start prints. This clone has no server, so that a start that is not refused fails on that. */
  async function start(): Promise<string> {
    const failed = await run(process.execPath, ["src/main.js"], { cwd: clone }).catch((error) => error);
    return failed.stderr;
  }

  const refused = /^The database client of this version is not generated\. Run npm ci [^\n]*\n$/;

  test("starts with the client of its schema only, and says what to run", async () => {
    expect(await start()).toMatch(refused);

    await mkdir(join(clone, CLIENT), { recursive: true });
    await writeFile(join(clone, CLIENT, "left-by-another-branch.ts"), "");
    await generate();
    expect(await start()).toContain("app/serve.ts");

    await writeFile(join(clone, "prisma/schema.prisma"), "// another version\n");
    expect(await start()).toMatch(refused);
  });

  test("without the generator says that it is missing, and keeps no client of another schema in use", async () => {
    await generate();
    await rm(join(clone, "node_modules"));
    await writeFile(join(clone, "prisma/schema.prisma"), "// another version\n");

    const { stderr } = await generate();

    expect(stderr).toMatch(/^The database client is not generated, .* Run npm ci without --omit=dev\.\n$/);
    expect(await start()).toMatch(refused);
  });
});
