import { AppError } from "../../../src/core/basics/errors.ts";
import type { RepositoryName } from "../../../src/core/model/repositories/repository-name.ts";
import type { Skill } from "../../../src/core/model/skills/skill.ts";
import type { SkillLibrary } from "../../../src/core/ports/skill-library.ts";
import { readSkillText } from "../../../src/git/skills/front-matter.ts";
import { folderOf, skillsAmong } from "../../../src/git/skills/skill-folders.ts";

/** The files of a repository by path. */
type Files = Readonly<Record<string, string>>;

/** An in-memory fake. A test adds the repositories; their commits are numbered. */
export class InMemorySkillLibrary implements SkillLibrary {
  readonly #commits = new Map<string, Files>();
  readonly #heads = new Map<string, string>();

  put(repository: string, files: Files): void {
    const commit = String(this.#commits.size + 1).padStart(40, "0");
    this.#commits.set(commit, files);
    this.#heads.set(repository, commit);
  }

  find: SkillLibrary["find"] = async (repository, wanted) => {
    const commit = this.#headOf(repository);
    if (wanted.kind === "path") {
      return this.#read(repository, commit, wanted.path);
    }
    const skills = await this.list(repository, "now");
    const inFolder = skills.find(({ path }) => folderOf(path, repository) === wanted.name);
    return inFolder ?? skills.find(({ name }) => name === wanted.name);
  };

  list: SkillLibrary["list"] = async (repository) => {
    const commit = this.#headOf(repository);
    const entries = Object.keys(this.#filesOf(commit)).map((path) => ({ path }));
    return skillsAmong(entries).flatMap(({ path }) => this.#read(repository, commit, path) ?? []);
  };

  readFiles: SkillLibrary["readFiles"] = async (_teamId, { commit, path }) => {
    const folder = path.slice(0, path.lastIndexOf("/") + 1);
    const files = Object.entries(this.#filesOf(commit)).filter(([each]) => each.startsWith(folder));
    return files.map(([each, text]) => ({
      path: each.slice(folder.length),
      bytes: new TextEncoder().encode(text),
      isExecutable: false,
    }));
  };

  #headOf({ owner, name }: RepositoryName): string {
    const commit = this.#heads.get(`${owner}/${name}`);
    if (commit !== undefined) {
      return commit;
    }
    throw new AppError("resource_not_found", `There is no repository ${owner}/${name}.`);
  }

  #filesOf(commit: string): Files {
    const files = this.#commits.get(commit);
    if (files !== undefined) {
      return files;
    }
    throw new AppError("resource_not_found", "The repository no longer has the commit.");
  }

  #read({ owner, name }: RepositoryName, commit: string, path: string): Skill | undefined {
    const whole = this.#filesOf(commit)[path];
    if (whole === undefined) {
      return undefined;
    }
    const text = readSkillText(whole);
    return {
      name: text.name ?? folderOf(path, { owner, name }),
      description: text.description ?? "",
      repository: { owner, name },
      path,
      commit,
      basePrompt: text.body,
    };
  }
}
