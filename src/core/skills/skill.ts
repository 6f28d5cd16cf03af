import type { RepositoryName } from "../repositories/repository-name.ts";

/** Instructions for an agent, kept in a repository as a SKILL.md with files beside it. As they were at `commit`. */
export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly repository: RepositoryName;
  /** Of its SKILL.md, from the root of the repository. */
  readonly path: string;
  readonly commit: string;
  /** What its SKILL.md says, without the front matter. */
  readonly basePrompt: string;
}

/** A file of a skill, by its path below the folder of its SKILL.md. */
export interface SkillFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly isExecutable: boolean;
}

/** How a skill is called for good, whatever was said to find it. Hosts do not tell upper from lower case, but in paths. */
export function skillId({ repository: { owner, name }, path }: Pick<Skill, "repository" | "path">): string {
  return uniformSkillId(`${owner}/${name}:${path}`);
}

/** The id as `skillId` gives it, however it was written. */
export function uniformSkillId(id: string): string {
  return id.replace(/^[^:]*/, (repository) => repository.toLowerCase());
}
