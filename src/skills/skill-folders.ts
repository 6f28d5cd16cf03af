import type { RepositoryName } from "../core/repositories/repository-name.ts";
import { SKILL_FILE } from "../core/skills/skill-spec.ts";

/** Where agents look for skills in a repository; of two skills of one name the earlier folder's is meant. */
export const SKILL_FOLDERS = [
  ".agents",
  ".warp",
  ".claude",
  ".codex",
  ".cursor",
  ".gemini",
  ".copilot",
  ".factory",
  ".github",
  ".opencode",
  ".kiro",
].map((folder) => `${folder}/skills`);

/** Those of `entries` that are the SKILL.md of a skill in a folder that agents know, in the order of the folders. */
export function skillsAmong<Entry extends { readonly path: string }>(
  entries: readonly Entry[],
): readonly Entry[] {
  return SKILL_FOLDERS.flatMap((folder) => entries.filter(({ path }) => isSkillOf(folder, path)));
}

/** What a skill is called by where it lies; one at the root of a repository is called like that. */
export function folderOf(path: string, { name }: RepositoryName): string {
  return path.split("/").at(-2) ?? name;
}

function isSkillOf(folder: string, path: string): boolean {
  if (!path.startsWith(`${folder}/`)) return false;
  const [name = "", file, ...rest] = path.slice(folder.length + 1).split("/");
  return name !== "" && file === SKILL_FILE && rest.length === 0;
}
