import type { Environment } from "../environments/environment.ts";
import { isSameRepository, type RepositoryName } from "../repositories/repository-name.ts";

/** The repositories of all these environments after those `added`, without duplicates. */
export function repositoriesOf(
  environments: readonly Environment[],
  added: readonly RepositoryName[] = [],
): readonly RepositoryName[] {
  const all = [...added, ...environments.flatMap(({ config }) => config.repositories)];
  return all.filter(
    (repository, index) => all.findIndex((each) => isSameRepository(each, repository)) === index,
  );
}
