import { AppError } from "../core/basics/errors.ts";
import type { RepositoryName } from "../core/model/repositories/repository-name.ts";

/** The other folders of a workspace, and the name that git reserves. */
const TAKEN = [".git", ".skills", "artifacts", "attachments"];
const PLAIN = /^[\w.-]+$/;

/** The folder of each repository: its name, preceded by the owner if the name is taken. */
export function foldersFor(repositories: readonly RepositoryName[]): readonly string[] {
  const names = repositories.map(({ name }) => name.toLowerCase());
  return repositories.map(({ name, owner }, index) => {
    if (![owner, name].every(isPlain)) {
      throw new AppError("environment_setup_failed", `${owner}/${name} is not the name of a repository.`);
    }
    const own = name.toLowerCase();
    const isAlone = names.every((other, at) => at === index || other !== own);
    return isAlone && !TAKEN.includes(own) ? name : `${owner}-${name}`;
  });
}

function isPlain(name: string): boolean {
  return PLAIN.test(name) && name !== "." && name !== "..";
}
