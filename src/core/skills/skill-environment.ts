import type { Viewer } from "../people/principal.ts";
import type { RepositoryName } from "./skill.ts";

/** An environment, as far as it says whose skills there are. */
export interface SkillEnvironment {
  readonly id: string;
  readonly name: string;
  readonly repositories: readonly RepositoryName[];
}

/** The environments that somebody may use. */
export type ListSkillEnvironments = (
  viewer: Pick<Viewer, "id" | "teamId">,
) => Promise<readonly SkillEnvironment[]>;

/** The repositories of all of them, each once. Hosts of repositories do not tell upper from lower case. */
export function repositoriesOf(environments: readonly SkillEnvironment[]): readonly RepositoryName[] {
  const all = environments.flatMap(({ repositories }) => repositories);
  return Array.from(new Map(all.map((repository) => [keyOf(repository), repository])).values());
}

export function isSameRepository(left: RepositoryName, right: RepositoryName): boolean {
  return keyOf(left) === keyOf(right);
}

function keyOf({ owner, name }: RepositoryName): string {
  return `${owner}/${name}`.toLowerCase();
}
