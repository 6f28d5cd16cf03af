import { createHash } from "node:crypto";
import { access, chmod, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AgentDefinition } from "../../../src/agents/agent-definition.ts";
import { AgentInstaller } from "../../../src/agents/install/agent-installer.ts";
import { aScriptedAgent } from "../../support/agent-harness.ts";
import { waitFor } from "../../support/wait-for.ts";

const TIMING = { heartbeatMs: 20, staleMs: 300, lookMs: 10 };
const INSTALLED = expect.stringMatching(/^fake@1\.2\.3-[0-9a-f]{8}$/);
const signal = new AbortController().signal;

let dataDir: string;
let told: string[];
const open: AgentInstaller[] = [];
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "errand-install-"));
  told = [];
  await lockIs("{}");
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((installer) => installer.close()));
  await rm(dataDir, { recursive: true, force: true });
});

/** Another process of the same data directory, as far as files can report. */
function anInstaller(variables: Readonly<Record<string, string>> = {}, progressMs = 60_000): AgentInstaller {
  const path = `${join(dataDir, "bin")}:/usr/bin:/bin`;
  const installer = new AgentInstaller({
    ...{ dataDir, timing: TIMING, progressMs },
    variables: { PATH: path, ...variables },
  });
  open.push(installer);
  return installer;
}

function anAgent(program = "bin/program"): AgentDefinition {
  return {
    ...aScriptedAgent("fake", ["-"]),
    displayName: "Fake",
    npmPackage: { name: "@fakes/fake", version: "1.2.3", lockDirectory: join(dataDir, "lock") },
    launch: ({ directory }) => ({ argv: [join(directory, program)], env: {}, readable: [directory] }),
  };
}

async function lockIs(text: string): Promise<void> {
  await mkdir(join(dataDir, "lock"), { recursive: true });
  await writeFile(join(dataDir, "lock/package-lock.json"), text);
}

/** An npm that does what the shell lines say, in the directory to install into. */
async function npmDoes(lines: string): Promise<void> {
  await mkdir(join(dataDir, "bin"), { recursive: true });
  await writeFile(join(dataDir, "bin/npm"), `#!/bin/sh\necho "$@" >> ${dataDir}/calls\n${lines}\n`);
  await chmod(join(dataDir, "bin/npm"), 0o755);
}

const INSTALLS = "mkdir bin && head -c 2000000 /dev/zero > bin/program";
const report = (text: string) => void told.push(text);
const list = () => readdir(join(dataDir, "agents"));
const calls = async () => (await readFile(join(dataDir, "calls"), "utf8")).trim().split("\n");

test("an agent is installed completely at its first use, and two notices report it", async () => {
  await npmDoes(INSTALLS);
  const [agent, installer] = [anAgent(), anInstaller()];
  expect(await installer.isThere(agent)).toBe(false);

  const directory = await installer.provide(agent, report, signal);
  await installer.provide(agent, report, signal);

  expect(await installer.isThere(agent)).toBe(true);
  expect(await list()).toEqual([INSTALLED]);
  expect(told).toEqual([
    "Installing Fake 1.2.3 (@fakes/fake from npm).",
    expect.stringMatching(/^Fake is installed \(\d+ s, 2 MB\)\.$/),
  ]);
  expect(directory).toBe(join(dataDir, "agents", (await list())[0] ?? ""));
  expect(await calls()).toEqual([expect.stringMatching(/^ci .*--ignore-scripts/)]);
});

test("npm gets the agent's version and its lockfile, and another lockfile is another installation", async () => {
  await npmDoes(INSTALLS);
  const first = await anInstaller().provide(anAgent(), report, signal);

  await lockIs('{"other":true}');
  const second = await anInstaller().provide(anAgent(), report, signal);

  expect(second).not.toBe(first);
  const read = async (directory: string, file: string) =>
    JSON.parse(await readFile(join(directory, file), "utf8"));
  expect(await read(second, "package-lock.json")).toEqual({ other: true });
  expect(await read(second, "package.json")).toMatchObject({ dependencies: { "@fakes/fake": "1.2.3" } });
});

test("npm has a home of its own and the operator's settings for it, and nothing else", async () => {
  await npmDoes(`env > ${dataDir}/env; ${INSTALLS}`);
  process.env.OPENAI_API_KEY = "sk-not-for-npm";

  await anInstaller({ npm_config_registry: "http://r.test" })
    .provide(anAgent(), report, signal)
    .finally(() => delete process.env.OPENAI_API_KEY);

  const env = (await readFile(join(dataDir, "env"), "utf8")).trim().split("\n");
  expect(env.map((line) => line.split("=")[0]).toSorted()).toEqual(
    ["HOME", "OLDPWD", "PATH", "PWD", "npm_config_cache", "npm_config_registry"].filter(
      (name) => name !== "OLDPWD" || env.some((line) => line.startsWith("OLDPWD=")),
    ),
  );
  expect(env).toContainEqual(`HOME=${dataDir}/agents/.npm-fake`);
});

test("an agent that needs installing is installed once while several runs wait", async () => {
  await npmDoes(`while [ ! -e ${dataDir}/go ]; do sleep 0.05; done; ${INSTALLS}`);
  const [first, second] = [anInstaller(), anInstaller()];

  const all = [first, first, second].map((installer) => installer.provide(anAgent(), report, signal));
  await waitFor(async () => (await calls()).length === 1, { what: "npm to be started" });
  await writeFile(join(dataDir, "go"), "");

  expect(new Set(await Promise.all(all)).size).toBe(1);
  expect(await calls()).toHaveLength(1);
  expect(await list()).toEqual([INSTALLED]);
});

test("an interrupted installation is repeated and its leftovers are removed", async () => {
  await npmDoes(INSTALLS);
  await mkdir(join(dataDir, "agents/.half-fake-x/node_modules"), { recursive: true });
  const hash = createHash("sha256").update("{}").digest("hex").slice(0, 8);
  const lock = join(dataDir, "agents", `fake@1.2.3-${hash}.lock`);
  await writeFile(lock, "");
  await utimes(lock, 1_000, 1_000);

  await anInstaller().provide(anAgent(), report, signal);

  expect(await list()).toEqual([INSTALLED]);
});

test("an installer waits for another one that is still at work", async () => {
  await npmDoes(`sleep 0.9; ${INSTALLS}`);
  const [first, second] = [anInstaller(), anInstaller()];

  await Promise.all([first, second].map((installer) => installer.provide(anAgent(), report, signal)));

  expect(await calls()).toHaveLength(1);
});

test("a failed installation reports npm's output without keys, and can be retried", async () => {
  await npmDoes(
    'echo "npm error network http://me:pw@r.test/ _authToken=abc //r.test/:_password=xyz" >&2; exit 7',
  );
  const installer = anInstaller();

  const failed = await installer.provide(anAgent(), report, signal).catch((error: unknown) => error);
  await npmDoes(INSTALLS);

  expect(failed).toMatchObject({
    code: "environment_setup_failed",
    message:
      "The agent's package @fakes/fake@1.2.3 could not be installed. " +
      "npm reported: npm error network http://…@r.test/ _authToken=… //r.test/:_password=…",
    options: { remedy: expect.stringContaining("npm registry") },
  });
  expect((await list()).filter((name) => name.startsWith(".half"))).toEqual([]);
  await expect(installer.provide(anAgent(), report, signal)).resolves.toContain("fake@1.2.3-");
});

test("a failed installation fails for all that wait for it, and is not started again", async () => {
  await npmDoes(`while [ ! -e ${dataDir}/go ]; do sleep 0.05; done; exit 1`);
  const installer = anInstaller();
  const all = [1, 2].map(() => installer.provide(anAgent(), report, signal));
  const failed = Promise.allSettled(all);
  await waitFor(async () => (await calls()).length === 1, { what: "npm to be started" });

  await writeFile(join(dataDir, "go"), "");

  expect((await failed).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await calls()).toHaveLength(1);
});

test("the installation error says that the machine has no npm", async () => {
  const installing = anInstaller({ PATH: join(dataDir, "nothing") }).provide(anAgent(), report, signal);

  await expect(installing).rejects.toMatchObject({ message: expect.stringContaining("no program npm") });
});

test("the installation error says that the package has no program for this machine", async () => {
  await npmDoes("mkdir bin");

  const installing = anInstaller().provide(anAgent(), report, signal);

  await expect(installing).rejects.toMatchObject({ message: expect.stringContaining("no program for this") });
  expect((await list()).filter((name) => name.includes("@"))).toEqual([]);
});

test("an aborted installation returns at once, and closing the installer ends npm", async () => {
  await npmDoes(`trap 'touch ${dataDir}/ended; exit 1' TERM; touch ${dataDir}/begun; sleep 100 & wait`);
  const giveUp = new AbortController();
  const installer = anInstaller();
  const installing = installer.provide(anAgent(), report, giveUp.signal);
  const refused = expect(installing).rejects.toMatchObject({ code: "internal_error" });
  await waitFor(() => access(join(dataDir, "begun")).then(() => true), { what: "npm to be started" });

  giveUp.abort();
  await refused;
  await installer.close();

  await waitFor(() => access(join(dataDir, "ended")).then(() => true), { what: "npm to end" });
});

test("a running installation reports the bytes that it has written", async () => {
  await npmDoes(
    `head -c 3000000 /dev/zero > $HOME/tarball
    while [ ! -e ${dataDir}/seen ]; do sleep 0.01; done
    ${INSTALLS}
    while [ ! -e ${dataDir}/done ]; do sleep 0.01; done`,
  );
  const installed = anInstaller({}, 20).provide(anAgent(), report, signal);
  const isTold = (text: string) => waitFor(() => told.includes(text), { what: text });

  await isTold("Installing Fake: 3 MB written so far.");
  await writeFile(join(dataDir, "seen"), "");
  await isTold("Installing Fake: 5 MB written so far.");
  await writeFile(join(dataDir, "done"), "");
  await installed;

  expect(new Set(told).size).toBe(told.length);
  expect(told.at(-1)).toMatch(/^Fake is installed/);
});
