import type { Environment } from "../environments/environment.ts";
import type { RepositoryName } from "./skill.ts";

/** The repositories of all of them, each once. */
export function repositoriesOf(environments: readonly Environment[]): readonly RepositoryName[] {
  const all = environments.flatMap(({ config }) => config.repositories);
  return all.filter(
    (repository, index) => all.findIndex((each) => isSameRepository(each, repository)) === index,
  );
}

/** Hosts of repositories do not tell upper from lower case. */
export function isSameRepository(left: RepositoryName, right: RepositoryName): boolean {
  return isSameName(left.owner, right.owner) && isSameName(left.name, right.name);
}

export function isSameName(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase();
}
