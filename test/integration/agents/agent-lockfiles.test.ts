import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "tar";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { agentPackages } from "../../../scripts/agent-lockfiles.ts";
import { type AgentDefinition, manifestOf } from "../../../src/agents/agent-definition.ts";
import { AgentInstaller } from "../../../src/agents/install/agent-installer.ts";
import { findLockfileProblems } from "../../../src/agents/install/lockfile.ts";
import { aScriptedAgent } from "../../support/agent-harness.ts";
import { type AnsweringServer, startAnsweringServer } from "../../support/answering-server.ts";

const signal = new AbortController().signal;
const npmPackageAt = (lockDirectory: string) => ({ name: "fake", version: "1.2.3", lockDirectory });

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "errand-locks-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test.each([...agentPackages()])(
  "the lockfile of %s pins each package by its checksum",
  async (_, npmPackage) => {
    expect(await findLockfileProblems(npmPackage)).toEqual([]);
  },
);

describe("the check of a lockfile reports", () => {
  const CHECKSUM = `sha512-${"a".repeat(86)}==`;
  const FAKE = { version: "1.2.3", integrity: CHECKSUM };

  test.each([
    ["a missing lockfile", undefined, "missing"],
    ["another version than the catalogue's", { fake: { ...FAKE, version: "1.2.4" } }, "not locked at 1.2.3"],
    ["a package without a checksum", { fake: FAKE, other: { version: "1.0.0" } }, "no SHA-512 checksum"],
    [
      "the address of a registry",
      { fake: { ...FAKE, resolved: "https://r.test/fake.tgz" } },
      "address of a registry",
    ],
  ])("the check of a lockfile reports %s", async (_, packages, problem) => {
    if (packages !== undefined) {
      await writeLock(packages);
    }

    const problems = await findLockfileProblems(npmPackageAt(folder));

    expect(problems).toEqual([expect.stringContaining(problem)]);
  });
});

describe("an agent whose dependency is served by a registry", () => {
  let registry: AnsweringServer;
  let tarballs: Record<string, Buffer>;
  beforeEach(async () => {
    tarballs = { fake: await tarball("fake", { dep: "^1.0.0" }), dep: await tarball("dep", {}) };
    registry = await startAnsweringServer();
    registry.answer = (response, { url }) => {
      const name = /^\/(\w+)/.exec(url)?.[1] ?? "";
      response.end(url.endsWith(".tgz") ? tarballs[name] : JSON.stringify(packument(name)));
    };
    await writeLock({ fake: locked("fake", { dep: "^1.0.0" }), dep: locked("dep", {}) });
  });
  afterEach(() => registry.stop());

  test("an agent is installed with its locked dependencies", async () => {
    const directory = await install();

    expect(await readFile(join(directory, "node_modules/dep/index.js"), "utf8")).toBe("// dep");
  });

  test("an agent is not installed when the content of a dependency changed", async () => {
    tarballs.dep = await tarball("dep", {}, "// changed");

    await expect(install()).rejects.toMatchObject({
      code: "environment_setup_failed",
      message: expect.stringContaining("EINTEGRITY"),
    });
  });

  test("an agent is not installed with a later version of a dependency", async () => {
    tarballs.dep = await tarball("dep", {}, "// dep", "1.9.0");
    const registryAnswer = registry.answer;
    registry.answer = (response, request) =>
      request.url === "/dep"
        ? response.end(JSON.stringify(packument("dep", "1.9.0")))
        : registryAnswer(response, request);

    await expect(install()).rejects.toMatchObject({ code: "environment_setup_failed" });
  });

  test("an installed agent needs no registry", async () => {
    const directory = await install();
    await registry.stop();

    expect(await install()).toBe(directory);
  });

  function install(): Promise<string> {
    const variables = {
      PATH: process.env.PATH ?? "",
      npm_config_registry: registry.url,
      npm_config_fetch_retries: "0",
    };
    const installer = new AgentInstaller({ dataDir: join(folder, "data"), variables });
    return installer.provide(anAgent(), () => undefined, signal);
  }

  function packument(name: string, version = versionOf(name)) {
    const dist = { tarball: `${registry.url}/${name}/-/${name}-${version}.tgz`, integrity: checksumOf(name) };
    return {
      name,
      "dist-tags": { latest: version },
      versions: { [version]: { name, version, dist } },
    };
  }

  function locked(name: string, dependencies: Record<string, string>) {
    return { version: versionOf(name), integrity: checksumOf(name), dependencies };
  }

  function checksumOf(name: string): string {
    return `sha512-${createHash("sha512")
      .update(tarballs[name] ?? "")
      .digest("base64")}`;
  }
});

function versionOf(name: string): string {
  return name === "fake" ? "1.2.3" : "1.0.0";
}

function anAgent(): AgentDefinition {
  return {
    ...aScriptedAgent("fake", ["-"]),
    npmPackage: npmPackageAt(folder),
    launch: ({ directory }) => ({
      argv: [join(directory, "node_modules/fake/index.js")],
      env: {},
      readable: [],
    }),
  };
}

async function writeLock(packages: Record<string, object>): Promise<void> {
  const entries = Object.entries(packages).map(([name, each]) => [`node_modules/${name}`, each]);
  const root = manifestOf(npmPackageAt(folder));
  const lockfile = {
    name: root.name,
    lockfileVersion: 3,
    requires: true,
    packages: { "": { name: root.name, dependencies: root.dependencies }, ...Object.fromEntries(entries) },
  };
  await writeFile(join(folder, "package-lock.json"), JSON.stringify(lockfile));
}

async function tarball(
  name: string,
  dependencies: Record<string, string>,
  code = `// ${name}`,
  version = versionOf(name),
): Promise<Buffer> {
  const source = await mkdtemp(join(folder, "source-"));
  await mkdir(join(source, "package"));
  await writeFile(join(source, "package/package.json"), JSON.stringify({ name, version, dependencies }));
  await writeFile(join(source, "package/index.js"), code);
  const file = join(source, "package.tgz");
  await create({ gzip: true, cwd: source, file, portable: true }, ["package"]);
  return readFile(file);
}
