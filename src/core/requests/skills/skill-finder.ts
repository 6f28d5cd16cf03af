import { defined } from "../../basics/defined.ts";
import { AppError } from "../../basics/errors.ts";
import type { Viewer } from "../../model/people/principal.ts";
import { isSameName, type RepositoryName } from "../../model/repositories/repository-name.ts";
import { runRepositoryOf } from "../../model/runs/run-repository.ts";
import { teamAccessOf } from "../../model/secrets/secret.ts";
import { secretNamesOf } from "../../model/secrets/secret-names.ts";
import { type Skill, skillId } from "../../model/skills/skill.ts";
import { parseSkillSpec, type SkillSpec } from "../../model/skills/skill-spec.ts";
import { repositoriesOf } from "../../model/workspaces/environment.ts";
import type { SkillLibrary } from "../../ports/skill-library.ts";
import type { EnvironmentService } from "../../team/records/environment-service.ts";
import type { NewRun } from "../prepare/new-run.ts";

export interface SkillFinderDeps {
  readonly library: Pick<SkillLibrary, "find">;
  readonly environments: Pick<EnvironmentService, "list">;
}

/** The principal who starts the run, and its environment. */
export interface SkillAsker {
  readonly viewer: Pick<Viewer, "id" | "teamId">;
  /** The only team secrets that the run gets. Undefined: all. */
  readonly secretNames?: readonly string[] | undefined;
  readonly environmentId?: string | undefined;
  /** The repository that the run's configuration names. */
  readonly repository?: RepositoryName | undefined;
}

/** Finds the skill that a request names. */
export class SkillFinder {
  readonly #deps: SkillFinderDeps;

  constructor(deps: SkillFinderDeps) {
    this.#deps = deps;
  }

  /** Throws `invalid_request`, `resource_not_found`, and the errors of the library. */
  async find(text: string, asker: SkillAsker): Promise<Skill> {
    const spec = parseSkillSpec(text);
    const repository = await this.#repositoryOf(spec, asker);
    const access = teamAccessOf({ teamId: asker.viewer.teamId, secretNames: asker.secretNames });
    const skill = await this.#deps.library.find({ ...repository, ...access }, spec.wanted);
    if (skill !== undefined) {
      return skill;
    }
    const repositoryName = `${repository.owner}/${repository.name}`;
    throw new AppError("resource_not_found", `${repositoryName} has no skill ${wordsOf(spec)}.`, {
      remedy: `GET /api/v1/agent?repo=${repositoryName}&refresh=true lists the skills that it has.`,
    });
  }

  /**
   * Without an owner: the repository of that name in the run's workspace, otherwise in any environment of the team.
   */
  async #repositoryOf(spec: SkillSpec, asker: SkillAsker): Promise<RepositoryName> {
    const { environmentId, repository: added, viewer } = asker;
    const { owner, repository: name } = spec;
    if (owner !== undefined) {
      return { owner, name };
    }
    const environments = await this.#deps.environments.list(viewer, "name");
    const own = environments.filter(({ id }) => id === environmentId);
    const near = named(name, repositoriesOf(own, added === undefined ? [] : [added]));
    return onlyOne(name, near.length > 0 ? near : named(name, repositoriesOf(environments)));
  }
}

function named(name: string, repositories: readonly RepositoryName[]): readonly RepositoryName[] {
  return repositories.filter((repository) => isSameName(repository.name, name));
}

function onlyOne(name: string, candidates: readonly RepositoryName[]): RepositoryName {
  const [first, ...others] = candidates;
  if (first === undefined) {
    throw new AppError("resource_not_found", `No environment of yours has a repository called ${name}.`, {
      remedy: "Write its owner too: owner/repo:skill.",
    });
  }
  if (others.length === 0) {
    return first;
  }
  const names = candidates.map((repository) => `${repository.owner}/${repository.name}`).join(", ");
  throw new AppError("invalid_request", `Several repositories are called ${name}: ${names}.`, {
    remedy: "Write the owner too: owner/repo:skill.",
  });
}

function wordsOf({ wanted }: SkillSpec): string {
  return wanted.kind === "name" ? `called "${wanted.name}"` : `at ${wanted.path}`;
}

/**
 * Finds the skills that the configuration of a new run names, unless the request brings them. Without a prompt and
 * without a skill of its own, the first of `skills` is the task.
 */
export async function withSkills(finder: Pick<SkillFinder, "find">, request: NewRun): Promise<NewRun> {
  const { config = {}, creator, prompt } = request;
  const find = (spec: string) =>
    finder.find(spec, {
      viewer: creator,
      secretNames: secretNamesOf(request),
      environmentId: config.environment_id,
      repository: runRepositoryOf(config),
    });
  const skills = request.skills ?? eachOnce(await Promise.all((config.skills ?? []).map(find)));
  const own =
    config.skill_spec === undefined ? undefined : (request.skill ?? (await find(config.skill_spec)));
  const skill = own ?? (prompt.trim() === "" ? skills[0] : undefined);
  return { ...request, skills, ...defined({ skill }) };
}

function eachOnce(skills: readonly Skill[]): readonly Skill[] {
  return skills.filter(
    (skill, index) => skills.findIndex((each) => skillId(each) === skillId(skill)) === index,
  );
}
