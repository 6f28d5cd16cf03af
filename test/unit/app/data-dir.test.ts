import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeDataDir } from "../../../src/app/data-dir.ts";

const NOBODY = 65_534;
/** Root may read everything, so the check runs as another user. The module is loaded before, as root. */
const CHECK = `
  const { makeDataDir } = await import(process.argv[1]);
  process.getuid() === 0 && process.setuid(${NOBODY});
  await makeDataDir(process.argv[2]).then(() => console.log("fine"), (error) => console.log(error.message));
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "errand-data-dir-"));
  await chmod(folder, 0o755);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("a new data directory is made for its user alone", async () => {
  const path = join(folder, "new", "data");
  await makeDataDir(path);

  await expect(makeDataDir(path)).resolves.toBeUndefined();
});

test.each([
  ["that cannot be made", 0o000, 0o600, "data/new", "cannot be made: this user may not do that."],
  ["of another user", 0o000, 0o600, "data", "may not be written by this user."],
  ["with files of another user", 0o777, 0o000, "data", "contains api-key, which this user may not read."],
])("a data directory %s gives one line", async (_what, directoryMode, keyMode, inside, expected) => {
  const directory = await mkdtemp(join(folder, "given-"));
  await chmod(directory, 0o755);
  await mkdir(join(directory, "data"));
  await writeFile(join(directory, "data", "api-key"), "", { mode: keyMode });
  await chmod(join(directory, "data"), directoryMode);

  const path = join(directory, inside);
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--input-type=module",
    "--eval",
    CHECK,
    new URL("../../../src/app/data-dir.ts", import.meta.url).href,
    path,
  ]);
  await chmod(join(directory, "data"), 0o700);

  expect(stdout).toContain(`ERRAND_DATA_DIR=${path} ${expected}`);
});
