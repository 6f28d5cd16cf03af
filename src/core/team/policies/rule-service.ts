import type { Clock } from "../../basics/clock.ts";
import { AppError, invalidMember } from "../../basics/errors.ts";
import { newId, type TeamId } from "../../basics/ids.ts";
import type { Viewer } from "../../model/people/principal.ts";
import { byOrder, type Rule } from "../../model/policies/rule.ts";
import type { RecordStore } from "../../ports/stores/record-store.ts";
import { UniqueConflict } from "../../ports/stores/storage.ts";

export interface RuleServiceDeps<R extends Rule> {
  /** The noun for the rules in messages. */
  readonly kind: string;
  readonly clock: Clock;
  /** Throws if a rule with valid members must not be stored. */
  check?(rule: R): Promise<void>;
}

/** The members of a rule that its author chooses. */
export type RuleEdit<R extends Rule> = Omit<R, "id" | "teamId" | "creatorId" | "createdAt" | "updatedAt">;

/** Administrators manage their team's rules of one kind through this service. */
export class RuleService<R extends Rule> {
  readonly #records: RecordStore<R>;
  readonly #deps: RuleServiceDeps<R>;

  constructor(records: RecordStore<R>, deps: RuleServiceDeps<R>) {
    this.#records = records;
    this.#deps = deps;
  }

  /** All rules in their order, disabled ones included. */
  async list(teamId: TeamId): Promise<readonly R[]> {
    return (await this.#records.list(teamId)).toSorted(byOrder);
  }

  async get(teamId: TeamId, id: string): Promise<R> {
    const rule = await this.#records.find(teamId, id);
    if (rule === undefined) {
      throw this.#unknown();
    }
    return rule;
  }

  async create({ id: creatorId, teamId }: Viewer, edit: RuleEdit<R>): Promise<R> {
    const now = this.#deps.clock.now();
    const origin = { id: newId(now), teamId, creatorId, createdAt: now, updatedAt: now };
    const rule = ruleOf(origin, edit);
    await this.#deps.check?.(rule);
    await this.#withFreeName(() => this.#records.add(rule));
    return rule;
  }

  /** A member that `edit` leaves out is removed. */
  async replace(teamId: TeamId, ruleId: string, edit: RuleEdit<R>): Promise<R> {
    const { id, creatorId, createdAt } = await this.get(teamId, ruleId);
    const origin = { id, teamId, creatorId, createdAt, updatedAt: this.#deps.clock.now() };
    const rule = ruleOf(origin, edit);
    await this.#deps.check?.(rule);
    if (!(await this.#withFreeName(() => this.#records.replace(rule)))) {
      throw this.#unknown();
    }
    return rule;
  }

  async remove(teamId: TeamId, id: string): Promise<void> {
    if (!(await this.#records.remove(teamId, id))) {
      throw this.#unknown();
    }
  }

  async #withFreeName<T>(store: () => Promise<T>): Promise<T> {
    try {
      return await store();
    } catch (error) {
      if (!(error instanceof UniqueConflict) || error.what !== "name") {
        throw error;
      }
      throw invalidMember("name", `another ${this.#deps.kind} has this name`);
    }
  }

  #unknown(): AppError {
    return new AppError("resource_not_found", `There is no such ${this.#deps.kind}.`);
  }
}

type RuleOrigin = Pick<Rule, "id" | "teamId" | "creatorId" | "createdAt" | "updatedAt">;

/** A rule has these members and no others, which the compiler cannot know of `R`. */
function ruleOf<R extends Rule>(origin: RuleOrigin, edit: RuleEdit<R>): R {
  return { ...origin, ...edit } as unknown as R;
}
