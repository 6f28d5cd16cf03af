import { AppError } from "../../core/basics/errors.ts";
import type { RepositoryName } from "../../core/model/repositories/repository-name.ts";
import type { Skill, SkillFile } from "../../core/model/skills/skill.ts";
import type { WantedSkill } from "../../core/model/skills/skill-spec.ts";
import type { SkillLibrary } from "../../core/ports/skill-library.ts";
import type { MirrorReader } from "../mirror.ts";
import type { RepositoryMirrors } from "../repository-mirrors.ts";
import { readSkillText } from "./front-matter.ts";
import { folderOf, SKILL_FOLDERS, skillsAmong } from "./skill-folders.ts";
import { listTree, readTreeFiles, type TreeFile } from "./tree-files.ts";

/** The same as the limit of a base prompt. */
const SKILL_BYTES = 64 * 1024;
const SKILLS_MAX = 200;
/** The limit for all files of a skill, because they pass through memory and into each checkpoint of the run. */
const FILES_BYTES = 32 * 2 ** 20;
const FILES_MAX = 1_000;

/** Reads skills from git repositories. */
export function createGitSkillLibrary(mirrors: RepositoryMirrors): SkillLibrary {
  return {
    find: (repository, wanted) =>
      mirrors.readHead(repository, "recent", async (mirror) =>
        mirror.commit === undefined
          ? undefined
          : findSkill({ repository, mirror, commit: mirror.commit }, wanted),
      ),
    list: (repository, freshness) =>
      mirrors.readHead(repository, freshness, async (mirror) =>
        mirror.commit === undefined ? [] : listSkills({ repository, mirror, commit: mirror.commit }),
      ),
    readFiles: (access, { commit, path, repository }) =>
      mirrors.readCommit({ ...access, ...repository }, commit, (mirror) =>
        readFolder({ repository, mirror, commit }, path),
      ),
  };
}

interface SkillSource {
  readonly repository: RepositoryName;
  readonly commit: string;
  readonly mirror: MirrorReader;
}

async function listSkills(source: SkillSource): Promise<readonly Skill[]> {
  const files = await skillFilesOf(source);
  return readSkills(
    source,
    files.filter(({ sizeBytes }) => sizeBytes <= SKILL_BYTES),
  );
}

async function findSkill(source: SkillSource, wanted: WantedSkill): Promise<Skill | undefined> {
  if (wanted.kind === "name") {
    return findByName(source, wanted.name);
  }
  const files = await listTree(source.mirror, source.commit, [wanted.path]);
  const file = files.find(({ path }) => path === wanted.path);
  return file === undefined ? undefined : readSkill(source, file);
}

/**
 * By the name of the folder, which the skill standard requires to be the skill's name. Otherwise by the name in the
 * front matter.
 */
async function findByName(source: SkillSource, name: string): Promise<Skill | undefined> {
  const files = await skillFilesOf(source);
  const file = files.find(({ path }) => folderOf(path, source.repository) === name);
  if (file !== undefined) {
    return readSkill(source, file);
  }
  const skills = await listSkills(source);
  return skills.find((skill) => skill.name === name);
}

async function skillFilesOf({ commit, mirror }: SkillSource): Promise<readonly TreeFile[]> {
  const files = await listTree(mirror, commit, SKILL_FOLDERS);
  return skillsAmong(files).slice(0, SKILLS_MAX);
}

/** A skill that is too long is rejected on request and left out of lists. */
async function readSkill(source: SkillSource, file: TreeFile): Promise<Skill | undefined> {
  const { path, sizeBytes } = file;
  if (sizeBytes > SKILL_BYTES) {
    const message = `${path} has ${sizeBytes} bytes; an agent can be given ${SKILL_BYTES}.`;
    const remedy = "Move parts of it into files beside it, which the agent reads when it needs them.";
    throw new AppError("operation_not_supported", message, { remedy });
  }
  const [skill] = await readSkills(source, [file]);
  return skill;
}

async function readSkills(source: SkillSource, files: readonly TreeFile[]): Promise<readonly Skill[]> {
  const { owner, name } = source.repository;
  const texts = await readTreeFiles(source.mirror, files);
  return files.map(({ path }, index) => {
    const text = readSkillText(texts[index]?.toString() ?? "");
    return {
      name: text.name ?? folderOf(path, source.repository),
      description: text.description ?? "",
      repository: { owner, name },
      path,
      commit: source.commit,
      basePrompt: text.body,
    };
  });
}

async function readFolder({ commit, mirror }: SkillSource, skillPath: string): Promise<readonly SkillFile[]> {
  const folder = skillPath.slice(0, skillPath.lastIndexOf("/") + 1);
  const files = await listTree(mirror, commit, folder === "" ? [] : [folder]);
  const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (bytes > FILES_BYTES || files.length > FILES_MAX) {
    const largest = `${FILES_MAX} files of ${FILES_BYTES / 2 ** 20} MiB together`;
    throw new AppError("environment_setup_failed", `The skill has more than ${largest} beside its SKILL.md.`);
  }
  const contents = await readTreeFiles(mirror, files);
  return files.map(({ isExecutable, path }, index) => ({
    path: path.slice(folder.length),
    bytes: contents[index] ?? new Uint8Array(),
    isExecutable,
  }));
}
