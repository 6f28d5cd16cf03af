import type { RepositoryName } from "../../core/model/repositories/repository-name.ts";
import { SKILL_FILE } from "../../core/model/skills/skill-spec.ts";

/** The folders in which agents look for skills. Of two skills with one name, the earlier folder wins. */
export const SKILL_FOLDERS = [
  ".agents",
  ".warp",
  ".claude",
  ".codex",
  ".cursor",
  ".gemini",
  ".qwen",
  ".copilot",
  ".factory",
  ".github",
  ".opencode",
  ".kiro",
].map((folder) => `${folder}/skills`);

/** The entries that are the SKILL.md of a skill in a known folder, in the order of the folders. */
export function skillsAmong<Entry extends { readonly path: string }>(
  entries: readonly Entry[],
): readonly Entry[] {
  return SKILL_FOLDERS.flatMap((folder) => entries.filter(({ path }) => isSkillOf(folder, path)));
}

/** The name of a skill according to its path. A skill at the root has the name of the repository. */
export function folderOf(path: string, { name }: RepositoryName): string {
  return path.split("/").at(-2) ?? name;
}

function isSkillOf(folder: string, path: string): boolean {
  if (!path.startsWith(`${folder}/`)) {
    return false;
  }
  const [name = "", file, ...rest] = path.slice(folder.length + 1).split("/");
  return name !== "" && file === SKILL_FILE && rest.length === 0;
}
