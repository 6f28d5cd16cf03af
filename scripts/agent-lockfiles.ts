import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NpmPackage } from "../src/agents/agent-definition.ts";
import { createCatalogue } from "../src/agents/catalogue.ts";
import { compareVersions } from "../src/agents/install/compare-versions.ts";
import { LOCKFILE_NAME, resolveLockfile } from "../src/agents/install/lockfile.ts";
import { npmNewest } from "../src/agents/install/npm-install.ts";
import { npmVariablesIn } from "../src/config/agents.ts";

/** The packages of the catalogue by the names of their agents. */
export function agentPackages(): ReadonlyMap<string, NpmPackage> {
  const packages = [...createCatalogue().values()].map(({ name, npmPackage }) => [name, npmPackage] as const);
  return new Map(packages.flatMap(([name, each]) => (each === undefined ? [] : [[name, each] as const])));
}

/** Resolves the dependencies anew and writes the lockfile. Returns the optional packages that the registry does not have. */
export async function writeLockfile(npmPackage: NpmPackage): Promise<readonly string[]> {
  const { missing, text } = await inFolder((root) => resolveLockfile(npmPackage, { root, ...npm() }));
  await writeFile(join(npmPackage.lockDirectory, LOCKFILE_NAME), text);
  return missing;
}

/** Writes the newest version of the package, if it is newer, into the definition of the agent. Returns the package as it is now. */
export async function raiseVersion(name: string, npmPackage: NpmPackage): Promise<NpmPackage> {
  const version = await inFolder((directory) =>
    npmNewest(npmPackage.name, { directory, home: join(directory, "npm"), ...npm() }),
  );
  if (compareVersions(version, npmPackage.version) <= 0) {
    return npmPackage;
  }
  const file = join(npmPackage.lockDirectory, `${name}-agent.ts`);
  const source = await readFile(file, "utf8");
  await writeFile(file, source.replace(`version: "${npmPackage.version}"`, `version: "${version}"`));
  return { ...npmPackage, version };
}

function npm() {
  return { variables: npmVariablesIn(process.env), signal: new AbortController().signal };
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "errand-lock-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
