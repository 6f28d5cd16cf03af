import type { RepositoryName } from "../repositories/repository-name.ts";

/** Instructions for an agent: a SKILL.md in a repository with files beside it, as of `commit`. */
export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly repository: RepositoryName;
  /** The path of its SKILL.md from the root of the repository. */
  readonly path: string;
  readonly commit: string;
  /** The text of its SKILL.md without the front matter. */
  readonly basePrompt: string;
}

/** A file of a skill, relative to the folder of its SKILL.md. */
export interface SkillFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly isExecutable: boolean;
}

/**
 * Where the files of a skill of a run are: a directory relative to the workspace's `directory` or to the agent's
 * `home`.
 */
export interface SkillPlace {
  readonly root: "directory" | "home";
  readonly directory: string;
}

export interface SkillFiles extends SkillPlace {
  readonly files: readonly SkillFile[];
}

/** The permanent id of a skill. Hosts do not distinguish upper from lower case, except in paths. */
export function skillId({ repository: { owner, name }, path }: Pick<Skill, "repository" | "path">): string {
  return uniformSkillId(`${owner}/${name}:${path}`);
}

/** The id in the form of `skillId`, whatever its case. */
export function uniformSkillId(id: string): string {
  return id.replace(/^[^:]*/, (repository) => repository.toLowerCase());
}
