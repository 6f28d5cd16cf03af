import { defined } from "../../basics/defined.ts";
import { AppError } from "../../basics/errors.ts";
import type { Log } from "../../basics/log.ts";
import type { Viewer } from "../../model/people/principal.ts";
import { isSameRepository, type RepositoryName } from "../../model/repositories/repository-name.ts";
import { type Skill, skillId } from "../../model/skills/skill.ts";
import { type Environment, repositoriesOf } from "../../model/workspaces/environment.ts";
import type { Freshness, SkillLibrary } from "../../ports/skill-library.ts";
import type { SkillHistory } from "../../ports/stores/skill-history.ts";
import type { EnvironmentService } from "../../team/records/environment-service.ts";

export interface SkillCatalogueDeps {
  readonly library: Pick<SkillLibrary, "list">;
  readonly history: SkillHistory;
  readonly environments: Pick<EnvironmentService, "list">;
  readonly log: Log;
}

export const SKILL_SORTS = ["name", "last_run"] as const;
export type SkillSort = (typeof SKILL_SORTS)[number];

export interface SkillQuery {
  /** Undefined: the repositories of all environments that the viewer may use. */
  readonly repository?: RepositoryName | undefined;
  readonly freshness: Freshness;
  readonly sort: SkillSort;
}

/** One skill of a repository, and the environments where it can be used. */
export interface SkillVariant {
  readonly skill: Skill;
  readonly environments: readonly Environment[];
  readonly lastRunAt?: Date;
}

/** All skills of one name. */
export interface SkillGroup {
  readonly name: string;
  readonly variants: readonly SkillVariant[];
}

/** Lists the skills that a viewer can use. */
export class SkillCatalogue {
  readonly #deps: SkillCatalogueDeps;

  constructor(deps: SkillCatalogueDeps) {
    this.#deps = deps;
  }

  async list(viewer: Viewer, query: SkillQuery): Promise<readonly SkillGroup[]> {
    const environments = await this.#deps.environments.list(viewer, "name");
    const skills =
      query.repository === undefined
        ? await this.#listAll(viewer, repositoriesOf(environments), query.freshness)
        : await this.#listOne(viewer, query.repository, query.freshness);
    const lastRuns = await this.#deps.history.lastRuns(viewer, skills.map(skillId));
    const variants = skills.map((skill) => variantOf(skill, environments, lastRuns.get(skillId(skill))));
    return grouped(variants).toSorted(query.sort === "name" ? byName : byLastRun);
  }

  #listOne(viewer: Viewer, repository: RepositoryName, freshness: Freshness): Promise<readonly Skill[]> {
    return this.#deps.library.list({ ...repository, teamId: viewer.teamId }, freshness);
  }

  /** An unreadable repository does not hide the others. If none can be read, the reason is returned. */
  async #listAll(
    viewer: Viewer,
    repositories: readonly RepositoryName[],
    freshness: Freshness,
  ): Promise<readonly Skill[]> {
    const read = repositories.map((repository) => this.#listOne(viewer, repository, freshness));
    const results = await Promise.allSettled(read);
    const failures: readonly unknown[] = results.flatMap((result) =>
      result.status === "rejected" ? [result.reason] : [],
    );
    for (const failure of failures) {
      this.#pass(failure);
    }
    const [failure] = failures.filter((failure) => !isMissing(failure));
    if (failure !== undefined && failures.length === results.length) {
      throw failure;
    }
    return results.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
  }

  #pass(failure: unknown): void {
    if (!(failure instanceof AppError)) {
      throw failure;
    }
    this.#deps.log.warn("skills.repository.skipped", { code: failure.code, reason: failure.message });
  }
}

function isMissing(failure: unknown): boolean {
  return failure instanceof AppError && failure.code === "resource_not_found";
}

function variantOf(
  skill: Skill,
  environments: readonly Environment[],
  lastRunAt: Date | undefined,
): SkillVariant {
  const having = environments.filter(({ config }) =>
    config.repositories.some((repository) => isSameRepository(repository, skill.repository)),
  );
  return defined({ skill, environments: having, lastRunAt });
}

function grouped(variants: readonly SkillVariant[]): readonly SkillGroup[] {
  const groups = Map.groupBy(variants, ({ skill }) => skill.name);
  return Array.from(groups, ([name, members]) => ({ name, variants: members }));
}

function byName(left: SkillGroup, right: SkillGroup): number {
  return left.name.toLowerCase() < right.name.toLowerCase() ? -1 : 1;
}

/** The most recently used first, then the unused ones by name. */
function byLastRun(left: SkillGroup, right: SkillGroup): number {
  return lastRunOf(right) - lastRunOf(left) || byName(left, right);
}

function lastRunOf({ variants }: SkillGroup): number {
  return Math.max(...variants.map(({ lastRunAt }) => lastRunAt?.getTime() ?? 0));
}
