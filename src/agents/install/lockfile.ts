import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { manifestOf, type NpmPackage } from "../agent-definition.ts";
import { type NpmCall, npmLock } from "./npm-install.ts";

export const LOCKFILE_NAME = "package-lock.json";

const DEPENDENCIES = z.record(z.string(), z.string());
const LOCKED_PACKAGE = z.looseObject({
  version: z.string().optional(),
  resolved: z.string().optional(),
  integrity: z.string().optional(),
  link: z.boolean().optional(),
  /** Comes inside of the package that contains it, whose checksum covers it. */
  inBundle: z.boolean().optional(),
  dependencies: DEPENDENCIES.optional(),
  optionalDependencies: DEPENDENCIES.optional(),
});
const LOCKFILE = z.looseObject({
  lockfileVersion: z.literal(3),
  packages: z.record(z.string(), LOCKED_PACKAGE),
});
type Lockfile = z.infer<typeof LOCKFILE>;
const CHECKSUM = /^sha512-[A-Za-z0-9+/]{86}==$/;

export interface ResolvedLockfile {
  readonly text: string;
  /** Optional packages that the registry does not have. They cannot be pinned, so they will not be installed. */
  readonly missing: readonly string[];
}

/** Resolves the dependencies of a package anew with the registry of this machine, whose address is not in the result. */
export async function resolveLockfile(
  npmPackage: Pick<NpmPackage, "name" | "version">,
  { root, ...npm }: Omit<NpmCall, "directory" | "home"> & { readonly root: string },
): Promise<ResolvedLockfile> {
  const directory = await mkdtemp(join(root, ".lock-"));
  try {
    await chmod(directory, 0o755);
    await writeFile(join(directory, "package.json"), JSON.stringify(manifestOf(npmPackage)));
    await npmLock({ ...npm, directory, home: join(directory, "npm") });
    const lockfile = LOCKFILE.parse(await readJson(join(directory, LOCKFILE_NAME)));
    const missing = removeUnlocked(lockfile);
    return { text: `${JSON.stringify(lockfile, null, 2)}\n`, missing };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** `npm ci` refuses a lockfile that names a dependency without locking it, even an optional one. */
function removeUnlocked({ packages }: Lockfile): readonly string[] {
  const locked = new Set(Object.keys(packages).map((path) => path.split("node_modules/").at(-1)));
  const missing: string[] = [];
  for (const each of Object.values(packages)) {
    const optional = Object.entries(each.optionalDependencies ?? {});
    missing.push(...optional.map(([name]) => name).filter((name) => !locked.has(name)));
    if (optional.length > 0) {
      each.optionalDependencies = Object.fromEntries(optional.filter(([name]) => locked.has(name)));
    }
  }
  return missing;
}

/** What is wrong with the lockfile of a package. Needs no registry. */
export async function findLockfileProblems(npmPackage: NpmPackage): Promise<readonly string[]> {
  const { lockDirectory, name, version } = npmPackage;
  const content = await readJson(join(lockDirectory, LOCKFILE_NAME)).catch(() => undefined);
  const lockfile = LOCKFILE.safeParse(content);
  if (!lockfile.success) {
    return [`${LOCKFILE_NAME} is missing or cannot be read`];
  }
  const { "": root, ...packages } = lockfile.data.packages;
  const wanted = JSON.stringify(manifestOf(npmPackage).dependencies);
  return [
    ...(JSON.stringify(root?.dependencies) === wanted ? [] : [`the dependencies are not exactly ${wanted}`]),
    ...(packages[`node_modules/${name}`]?.version === version ? [] : [`${name} is not locked at ${version}`]),
    ...Object.entries(packages).flatMap(([path, locked]) =>
      problemsOf(locked).map((what) => `${path}: ${what}`),
    ),
  ];
}

function problemsOf(locked: z.infer<typeof LOCKED_PACKAGE>): readonly string[] {
  if (locked.inBundle === true) {
    return [];
  }
  return [
    ...(CHECKSUM.test(locked.integrity ?? "") ? [] : ["has no SHA-512 checksum"]),
    ...(locked.version === undefined || locked.link === true ? ["is no version of a package"] : []),
    // Without an address npm uses the registry of the machine. A fixed address would bypass a company's mirror.
    ...(locked.resolved === undefined ? [] : ["names the address of a registry"]),
  ];
}

async function readJson(path: string): Promise<unknown> {
  return JSON.parse(await readFile(path, "utf8"));
}
