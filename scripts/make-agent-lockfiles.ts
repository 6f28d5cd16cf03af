import { findLockfileProblems } from "../src/agents/install/lockfile.ts";
import { agentPackages, raiseVersion, writeLockfile } from "./agent-lockfiles.ts";

/**
 * `npm run agents:lock [-- NAME...]`: resolves the dependencies of these agents, or of all, and writes their lockfiles.
 * With `--newest`: raises them to their newest versions first. With `--check`: reports lockfiles
 * that do not pin what the catalogue names. The check needs no registry.
 */
async function makeAgentLockfiles(words: readonly string[]): Promise<number> {
  const isCheck = words.includes("--check");
  const names = words.filter((word) => !word.startsWith("--"));
  const packages = agentPackages();
  const unknown = names.filter((name) => !packages.has(name));
  if (unknown.length > 0) {
    console.error(
      `No agent with a package: ${unknown.join(", ")}. There are: ${[...packages.keys()].join(", ")}.`,
    );
    return 2;
  }
  let problemCount = 0;
  for (const [name, pinned] of packages) {
    if (names.length > 0 && !names.includes(name)) {
      continue;
    }
    const npmPackage = words.includes("--newest") ? await raiseVersion(name, pinned) : pinned;
    if (!isCheck) {
      const missing = await writeLockfile(npmPackage);
      console.log(`Wrote the lockfile of ${name} (${npmPackage.name}@${npmPackage.version}).`);
      if (missing.length > 0) {
        console.warn(`The registry does not have these optional packages of it: ${missing.join(", ")}.`);
      }
    }
    for (const problem of await findLockfileProblems(npmPackage)) {
      problemCount += 1;
      console.error(`src/agents/${name}: ${problem}. npm run agents:lock -- ${name}`);
    }
  }
  return problemCount === 0 ? 0 : 1;
}

process.exitCode = await makeAgentLockfiles(process.argv.slice(2));
