import { execFile } from "node:child_process";
import { chmod, chown, mkdir, readdir, readlink, realpath, rm, stat, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { makeDataDirPath, makeTemporaryFolder, SeedDataDir } from "../../../test/support/data-dir.ts";
import { chooseServerAccount } from "../src/server-account.ts";
import { EmbeddedProcess, type EmbeddedProcessOptions } from "./embedded-process.ts";
import { addPackageWithoutLinks, copyProgram } from "./program-copy.ts";
import { query } from "./query.ts";

const run = promisify(execFile);
/** A user that has no entry in /etc/passwd. */
const USER = 54_321;
const asRoot = test.runIf(process.getuid?.() === 0);

let seed: SeedDataDir;

beforeAll(async () => {
  seed = await SeedDataDir.make();
});

afterAll(() => seed.remove());

function spawnEmbedded(options: EmbeddedProcessOptions): EmbeddedProcess {
  const embedded = new EmbeddedProcess(options);
  onTestFinished(() => embedded.end());
  return embedded;
}

/** A folder like root's home, with the program in it and the place for what must lie outside. */
async function makeClosedHome(): Promise<{ root: string; dataDir: string; sharedDir: string }> {
  const root = await makeTemporaryFolder();
  await copyProgram(root);
  await addPackageWithoutLinks(root);
  await chmod(root, 0o700);
  return { root, dataDir: join(root, "data"), sharedDir: join(await makeTemporaryFolder(), "shared") };
}

async function listFiles(folder: string): Promise<readonly string[]> {
  return (await readdir(folder, { recursive: true })).sort();
}

test("with npm's install scripts skipped the embedded PostgreSQL runs and writes nothing into node_modules", async () => {
  const root = await makeTemporaryFolder();
  await copyProgram(root);
  const installed = await addPackageWithoutLinks(root);
  const before = await listFiles(installed);

  const embedded = spawnEmbedded({ root, dataDir: join(root, "data") });

  expect(await query(await embedded.url(), "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  expect(await listFiles(installed)).toEqual(before);
  await embedded.end("SIGINT");
});

test("on a platform without a package the error is one line that names DATABASE_URL", async () => {
  const root = await makeTemporaryFolder();
  await copyProgram(root);

  const { error } = await spawnEmbedded({ root, dataDir: join(root, "data") }).answer();

  expect(error).toMatch(/^PostgresStartError: There is no embedded PostgreSQL for .*DATABASE_URL.*$/);
});

test("binaries that this system cannot run give one line that names DATABASE_URL", async () => {
  const root = await makeTemporaryFolder();
  await copyProgram(root);
  const installed = await addPackageWithoutLinks(root);
  await rm(join(installed, "native/lib/libcrypto.so.1.1"), { force: true });
  await rm(join(installed, "native/lib"), { recursive: true });

  const { error } = await spawnEmbedded({ root, dataDir: join(root, "data") }).answer();

  expect(error).toMatch(
    /^PostgresStartError: The embedded PostgreSQL cannot make its database \(.*DATABASE_URL.*$/,
  );
});

asRoot("as root it runs under another account in a data directory that only that one may enter", async () => {
  const dataDir = await makeDataDirPath();
  await mkdir(dataDir, { mode: 0o700 });
  const account = await chooseServerAccount(undefined);

  const embedded = spawnEmbedded({ dataDir });

  expect(await query(await embedded.url(), "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  expect(await stat(join(dataDir, "postgres"))).toMatchObject({ uid: account.uid, gid: account.gid });
  const { uid, gid, mode } = await stat(dataDir);
  expect({ uid, gid, mode: mode & 0o777 }).toEqual({ uid: 0, gid: account.gid, mode: 0o710 });
  await embedded.end("SIGINT");
});

asRoot("as root, with program and data where no other account can enter, it keeps its data", async () => {
  const { root, dataDir, sharedDir } = await makeClosedHome();
  const first = spawnEmbedded({ root, dataDir, sharedDir });
  await query(await first.url(), "CREATE TABLE kept AS SELECT 42 AS answer");
  await first.end("SIGINT");

  const second = spawnEmbedded({ root, dataDir, sharedDir });

  expect(await query(await second.url(), "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
  expect(dirname(dirname(await readlink(join(dataDir, "postgres"))))).toBe(sharedDir);
  await second.end("SIGINT");
});

asRoot("a data directory that was deleted and made anew does not find the old database", async () => {
  const { dataDir, sharedDir } = await makeClosedHome();
  const first = spawnEmbedded({ dataDir, sharedDir });
  await query(await first.url(), "CREATE TABLE kept AS SELECT 42 AS answer");
  await first.end("SIGINT");
  await rm(dataDir, { recursive: true });

  const second = spawnEmbedded({ dataDir, sharedDir });

  await expect(query(await second.url(), "SELECT answer FROM kept")).rejects.toThrow("does not exist");
  const place = dirname(await realpath(join(dataDir, "postgres")));
  expect((await readdir(place)).filter((name) => name.startsWith("postgres.2"))).toHaveLength(1);
  await second.end("SIGINT");
});

asRoot("as root with nowhere to put the database the error is one line that names DATABASE_URL", async () => {
  const { root, dataDir } = await makeClosedHome();
  const sharedDir = join(root, "package.json", "not-a-folder");

  const { error } = await spawnEmbedded({ dataDir, sharedDir }).answer();

  expect(error).toMatch(/^PostgresStartError: .*not-a-folder\/\w+ cannot be made: .*DATABASE_URL$/);
});

asRoot("a data directory whose database is gone is refused rather than begun anew", async () => {
  const dataDir = await makeDataDirPath();
  await mkdir(dataDir);
  await symlink(join(dataDir, "gone/postgres"), join(dataDir, "postgres"));

  const { error } = await spawnEmbedded({ dataDir }).answer();

  expect(error).toMatch(
    /^PostgresStartError: The embedded database of this data directory is not readable or gone/,
  );
});

asRoot("root continues what an ordinary user began, under that user's account", async () => {
  const dataDir = await seed.copy();
  await run("chown", ["-R", `${USER}:${USER}`, dataDir]);
  const asUser = spawnEmbedded({ dataDir, uid: USER, gid: USER });
  await query(await asUser.url(), "CREATE TABLE kept AS SELECT 42 AS answer");
  await asUser.end("SIGINT");

  const asRootAgain = spawnEmbedded({ dataDir });

  expect(await query(await asRootAgain.url(), "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
  expect((await stat(join(dataDir, "postgres/postmaster.pid"))).uid).toBe(USER);
  await asRootAgain.end("SIGINT");
});

asRoot("an ordinary user is told whose the database is when it is another's", async () => {
  const dataDir = await seed.copy();
  await chown(dataDir, USER, USER);

  const { error } = await spawnEmbedded({ dataDir, uid: USER, gid: USER }).answer();

  expect(error).toMatch(
    /^PostgresStartError: The embedded database belongs to user \d+, we are user 54321: .*$/,
  );
});

asRoot("a user without a name gets one line that names DATABASE_URL", async () => {
  const dataDir = await makeDataDirPath();
  await mkdir(dataDir);
  await chown(dataDir, USER, USER);

  const { error } = await spawnEmbedded({ dataDir, uid: USER, gid: USER }).answer();

  expect(error).toMatch(
    /^PostgresStartError: .* user 54321, which has no entry in \/etc\/passwd: .*DATABASE_URL$/,
  );
});
