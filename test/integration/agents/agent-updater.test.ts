import { access, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AgentDefinition } from "../../../src/agents/agent-definition.ts";
import { AgentInstaller } from "../../../src/agents/install/agent-installer.ts";
import { AgentUpdater } from "../../../src/agents/install/agent-updater.ts";
import { AgentVersions, type PackagedAgent } from "../../../src/agents/install/agent-versions.ts";
import { CurrentPrograms } from "../../../src/agents/install/current-programs.ts";
import { NewerVersions } from "../../../src/agents/install/newer-versions.ts";
import { tryAgent } from "../../../src/app/try-agent.ts";
import { readConfig } from "../../../src/config/config.ts";
import { agentVersionsCheck } from "../../../src/core/upkeep/agent-versions-check.ts";
import { aScriptedAgent } from "../../support/agent-harness.ts";
import { PackageRegistry } from "../../support/package-registry.ts";
import { waitFor } from "../../support/wait-for.ts";

const TIMING = { heartbeatMs: 20, staleMs: 400, lookMs: 10 };
const QUIET = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Answers as an agent does until it has a session. */
const AGENT = `
  require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    const answers = { initialize: { protocolVersion: 1, agentCapabilities: {} }, "session/new": { sessionId: "1" } };
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method] ?? {} }));
  });`;

let dataDir: string;
let registry: PackageRegistry;
let agent: PackagedAgent;
let told: string[];
const installers: AgentInstaller[] = [];
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "errand-update-"));
  registry = await PackageRegistry.start();
  told = [];
  agent = anAgent("1.0.0");
  await mkdir(agent.npmPackage.lockDirectory);
  await writeFile(join(agent.npmPackage.lockDirectory, "package-lock.json"), "{}");
  await registry.publish("fake", "1.0.0", { files: { "index.js": AGENT } });
});
afterEach(async () => {
  await Promise.all(installers.splice(0).map((installer) => installer.close()));
  await registry.stop();
  await rm(dataDir, { recursive: true, force: true });
});

function anAgent(version: string): PackagedAgent {
  const definition: AgentDefinition = aScriptedAgent("fake", ["-"]);
  return {
    ...definition,
    displayName: "Fake",
    npmPackage: { name: "fake", version, lockDirectory: join(dataDir, "catalogue") },
    launch: ({ directory }) => {
      const program = join(directory, "node_modules/fake/index.js");
      return { argv: [process.execPath, program], env: {}, readable: [directory] };
    },
  };
}

const npmVariables = (url: string) => ({
  PATH: process.env.PATH ?? "",
  npm_config_registry: url,
  npm_config_fetch_retries: "0",
});

/** Another process of the same data directory, as far as files can report. */
function anUpdater(url = registry.url, tried: (agent: AgentDefinition) => Promise<void> = async () => {}) {
  const variables = npmVariables(url);
  const installer = new AgentInstaller({ dataDir, variables, timing: TIMING });
  installers.push(installer);
  const config = readConfig({ ERRAND_DATA_DIR: dataDir, ERRAND_SANDBOX: "local" });
  const versions = new AgentVersions(dataDir);
  const updater = new AgentUpdater({
    ...{ versions, installer, variables, timing: TIMING },
    tryAgent: async (each, folder, signal) => {
      await tried(each);
      await tryAgent({ config, programs: installer, log: QUIET }, each, folder, signal);
    },
  });
  return { updater, versions, programs: new CurrentPrograms(installer, versions) };
}

const newerVersions = (url: string, programs: CurrentPrograms) =>
  new NewerVersions({ agents: [agent], programs, variables: npmVariables(url), timeoutMs: 2_000 });

const job = (signal = new AbortController().signal) => ({
  report: (text: string) => void told.push(text),
  signal,
});

/** What the next run would use, by its version and by where. */
async function inUse(of = agent) {
  const { inUse: used, previous } = await new AgentVersions(dataDir).of(of);
  return [used.npmPackage.version, previous?.npmPackage.version];
}

/** What is neither a record nor the lockfile of a version of this test. */
async function leftovers() {
  const names = await readdir(join(dataDir, "agent-versions"), { recursive: true });
  return names.filter(
    (name) => !/^fake(\/record\.json|\/1\.1\.0-(?!0{8})\w+(\/package-lock\.json)?)?$/.test(name),
  );
}

test("the newest version is installed, started once, and used by the next run of a worker that works on", async () => {
  await registry.publish("dep", "2.0.0", { files: { "index.js": "// dep" } });
  await registry.publish("fake", "1.1.0", {
    files: { "index.js": AGENT },
    dependencies: { dep: "^2.0.0" },
    scripts: { postinstall: `touch ${dataDir}/script-ran` },
  });
  const { programs, updater } = anUpdater();
  expect(await programs.current(agent)).toMatchObject({ npmPackage: { version: "1.0.0" } });

  await updater.update(agent, undefined, job());

  const directory = await programs.provide(agent, () => undefined, job().signal);
  expect(directory).toMatch(/fake@1\.1\.0-[0-9a-f]{8}$/);
  expect(await readFile(join(directory, "node_modules/dep/index.js"), "utf8")).toBe("// dep");
  const lockfile = await readFile(join(directory, "package-lock.json"), "utf8");
  expect(lockfile.match(/sha512-/g)).toHaveLength(2);
  expect(lockfile).not.toContain(registry.url);
  await expect(access(join(dataDir, "script-ran"))).rejects.toThrow("ENOENT");
  expect(told.at(-1)).toBe("Fake 1.1.0 is in use from the next run on, instead of 1.0.0.");
  expect(await leftovers()).toEqual([]);
});

test("a version can be named, also an older one, until it is rolled back or Errand brings a newer one", async () => {
  await registry.publish("fake", "1.1.0", { files: { "index.js": AGENT } });
  await registry.publish("fake", "0.9.0", { files: { "index.js": AGENT } });
  const { updater } = anUpdater();

  await updater.update(agent, "1.1.0", job());
  expect(await inUse()).toEqual(["1.1.0", "1.0.0"]);
  await updater.update(agent, "0.9.0", job());
  expect(await inUse()).toEqual(["0.9.0", "1.1.0"]);
  const asked = registry.requests.length;
  await updater.rollBack(agent, job());

  expect(await inUse()).toEqual(["1.1.0", "0.9.0"]);
  expect(registry.requests).toHaveLength(asked);
  // A release of Errand with a newer version replaces the chosen one.
  expect(await inUse(anAgent("1.0.5"))).toEqual(["1.1.0", "0.9.0"]);
  expect(await inUse(anAgent("1.2.0"))).toEqual(["1.2.0", "0.9.0"]);
});

test("a version whose program ends at once is not used, and the output of the program is in the message", async () => {
  const program = "console.error('needs a newer library'); process.exit(3)";
  await registry.publish("fake", "1.1.0", { files: { "index.js": program } });

  await expect(anUpdater().updater.update(agent, undefined, job())).rejects.toMatchObject({
    message: expect.stringMatching(/^Fake stays at 1\.0\.0\. .*exit code 3.*needs a newer library/s),
    options: { remedy: "Name another version: update fake@VERSION." },
  });
  expect(await inUse()).toEqual(["1.0.0", undefined]);
});

test("a version without the program is not used", async () => {
  await registry.publish("fake", "1.1.0");

  await expect(anUpdater().updater.update(agent, undefined, job())).rejects.toMatchObject({
    message: expect.stringMatching(/^Fake stays at 1\.0\.0\. fake@1\.1\.0 has no program for this machine/),
    options: { remedy: expect.stringContaining("another version") },
  });
  expect(await inUse()).toEqual(["1.0.0", undefined]);
});

test("a version that the registry does not have, and a registry that does not answer, change nothing", async () => {
  await expect(anUpdater().updater.update(agent, "7.7.7", job())).rejects.toMatchObject({
    message: expect.stringMatching(/^Fake stays at 1\.0\.0\. .*(ETARGET|No matching version)/s),
    options: { remedy: expect.stringContaining("npm registry") },
  });
  await expect(anUpdater("http://127.0.0.1:1").updater.update(agent, undefined, job())).rejects.toMatchObject(
    {
      message: expect.stringMatching(
        /^Fake stays at 1\.0\.0\. The newest version of fake could not be read\./,
      ),
    },
  );
  expect(await inUse()).toEqual(["1.0.0", undefined]);
});

test("an error of the disk changes nothing and is a message", async () => {
  await registry.publish("fake", "1.1.0", { files: { "index.js": AGENT } });
  const record = join(dataDir, "agent-versions/fake/record.json");
  const { updater } = anUpdater(registry.url, () => mkdir(record).then(() => undefined));

  await expect(updater.update(agent, undefined, job())).rejects.toMatchObject({
    code: "environment_setup_failed",
    message: expect.stringMatching(/^Fake stays at 1\.0\.0\. EISDIR/),
  });
  expect(await inUse()).toEqual(["1.0.0", undefined]);
});

test("words that are no version never reach npm", async () => {
  for (const version of ["latest", "^1.0.0", "npm:other@1.0.0", "https://r.test/x.tgz", "--flag", "1.0"]) {
    await expect(anUpdater().updater.update(agent, version, job())).rejects.toMatchObject({
      code: "invalid_request",
    });
  }
  expect(registry.requests).toEqual([]);
});

test("two commands at once change the agent one after the other", async () => {
  await registry.publish("fake", "1.1.0", { files: { "index.js": AGENT } });
  await registry.publish("fake", "1.2.0", { files: { "index.js": AGENT } });
  const { promise: go, resolve: release } = Promise.withResolvers<void>();
  const trying: string[] = [];
  const tried = async ({ npmPackage }: AgentDefinition) => {
    trying.push(npmPackage?.version ?? "");
    await go;
  };
  const first = anUpdater(registry.url, tried).updater.update(agent, "1.1.0", job());
  await waitFor(() => trying.length === 1, { what: "the first one to start the agent" });
  const second = anUpdater().updater.update(agent, "1.2.0", job());
  await waitFor(() => told.includes("Waiting for another command that changes Fake."), { what: "waiting" });
  release();

  await Promise.all([first, second]);

  expect(await inUse()).toEqual(["1.2.0", "1.1.0"]);
});

test("what a killed command left does not stop the next one", async () => {
  await registry.publish("fake", "1.1.0", { files: { "index.js": AGENT } });
  const root = join(dataDir, "agent-versions");
  for (const name of ["1.1.0-00000000", ".lock-x", ".try-x/home", ".npm"]) {
    await mkdir(join(root, "fake", name), { recursive: true });
  }
  await writeFile(join(root, "fake.lock"), "");
  await writeFile(join(root, "fake/record.json.1.new"), '{"catalogue":');
  expect(await inUse()).toEqual(["1.0.0", undefined]);

  await anUpdater().updater.update(agent, undefined, job());

  expect(await inUse()).toEqual(["1.1.0", "1.0.0"]);
  expect(await leftovers()).toEqual([]);
});

test("a record that cannot be read counts as none", async () => {
  const root = join(dataDir, "agent-versions/fake");
  await mkdir(root, { recursive: true });
  for (const text of ["", "{", "null", '{"catalogue":"1.0.0","inUse":{"version":"2.0.0","folder":"../x"}}']) {
    await writeFile(join(root, "record.json"), text);
    expect(await inUse()).toEqual(["1.0.0", undefined]);
  }
  const gone = { catalogue: "1.0.0", inUse: { version: "2.0.0", folder: "2.0.0-12345678" } };
  await writeFile(join(root, "record.json"), JSON.stringify(gone));
  expect((await inUse())[0]).toBe("1.0.0");
});

test("without a newer version nothing is installed", async () => {
  await anUpdater().updater.update(agent, undefined, job());

  expect(told).toEqual(["Fake 1.0.0 is in use already."]);
  await expect(anUpdater().updater.rollBack(agent, job())).rejects.toMatchObject({ code: "conflict" });
});

test("a command that is stopped while the agent starts changes nothing and leaves no lock", async () => {
  await registry.publish("fake", "1.1.0", { files: { "index.js": AGENT } });
  const stop = new AbortController();
  const { updater } = anUpdater(registry.url, async () => stop.abort());

  await expect(updater.update(agent, undefined, job(stop.signal))).rejects.toThrow();

  expect(await inUse()).toEqual(["1.0.0", undefined]);
  expect(await readdir(join(dataDir, "agent-versions"))).toEqual(["fake"]);
});

test("the doctor names newer versions of installed agents, asks once, and is never worse than ok", async () => {
  const { programs, updater } = anUpdater();
  const newer = newerVersions(registry.url, programs);
  const find = (of: NewerVersions) => agentVersionsCheck(() => of.list()).run();
  await registry.publish("fake", "1.1.0", { files: { "index.js": AGENT } });

  const before = await find(newer);
  expect(registry.requests).toEqual([]);
  await updater.update(agent, "1.1.0", job());
  const current = await find(newer);
  await registry.publish("fake", "1.2.0");
  const asked = registry.requests.length;
  const remembered = await find(newer);
  expect(registry.requests).toHaveLength(asked);

  expect(before).toEqual({ status: "ok", message: "No agent is installed on the machine of this process." });
  expect(current.message).toBe("The installed agents have their newest versions.");
  expect(remembered).toEqual(current);
  expect(await find(newerVersions(registry.url, programs))).toEqual({
    status: "ok",
    message: "fake 1.2.0 is newer than 1.1.0: errand admin agents update NAME.",
  });
  expect(await find(newerVersions("http://127.0.0.1:1", programs))).toEqual({
    status: "ok",
    message: "npm's registry did not say the newest versions of fake.",
  });
});
