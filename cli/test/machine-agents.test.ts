import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { InstalledCli } from "./installed-cli.ts";

const run = promisify(execFile);
const cli = await InstalledCli.create();
afterAll(() => cli.remove());

test("a command line outside of the folder of a server says where to run the command", async () => {
  const { code, stderr } = await cli.call(["admin", "agents", "update", "claude"]);

  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(/not a part of the folder.*\n→ .*npm run agents/),
  ]);
});

test("the one in the folder of a server calls the program of the server there", async () => {
  const rows = JSON.stringify([
    { name: "claude", version: "1.2.3", from: "errand", errand_version: "1.2.3" },
  ]);
  const program = `
    const words = process.argv.slice(2);
    console.log(words[0] === "list" ? '${rows}' : words.join(" ") + " in " + process.cwd());
    process.exitCode = words[1] === "bad" ? 1 : 0;`;
  await mkdir(join(cli.folder, "src"));
  await writeFile(join(cli.folder, "src/main.js"), program);
  const scripts = { agents: "node src/main.js" };
  await writeFile(join(cli.folder, "package.json"), JSON.stringify({ scripts }));
  const errand = (...words: readonly string[]) =>
    run(process.execPath, [join(cli.folder, "cli/bin/errand.js"), "admin", "agents", ...words], {
      env: cli.env,
    });

  expect((await errand()).stdout).toBe("claude\t1.2.3\terrand\t1.2.3\t\n");
  expect((await errand("update", "claude@1.3.0")).stdout).toBe(`update claude@1.3.0 in ${cli.folder}\n`);
  expect((await errand("rollback", "claude")).stdout).toBe(`rollback claude in ${cli.folder}\n`);
  await expect(errand("update", "bad")).rejects.toMatchObject({ code: 1 });
  await expect(errand("update", "claude", "--url", "http://r.test")).rejects.toMatchObject({ code: 2 });
});
