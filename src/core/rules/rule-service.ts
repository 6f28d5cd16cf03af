import { AppError, invalidMember } from "../errors.ts";
import { newId, type TeamId } from "../ids.ts";
import type { Viewer } from "../people/principal.ts";
import type { RecordStore } from "../records/record-store.ts";
import { UniqueConflict } from "../storage.ts";
import { byOrder, type Rule } from "./rule.ts";

/** Administrators manage their team's rules of one kind through this service. */
export class RuleService<R extends Rule> {
  readonly #records: RecordStore<R>;
  readonly #kind: string;

  /** `kind`: the name of the kind of rule, for people. */
  constructor(records: RecordStore<R>, kind: string) {
    this.#records = records;
    this.#kind = kind;
  }

  /** All rules in their order, disabled ones included. */
  async list(teamId: TeamId): Promise<readonly R[]> {
    return (await this.#records.list(teamId)).toSorted(byOrder);
  }

  async get(teamId: TeamId, id: string): Promise<R> {
    const rule = await this.#records.find(teamId, id);
    if (rule === undefined) throw this.#unknown();
    return rule;
  }

  async add(rule: R): Promise<R> {
    await this.#withFreeName(() => this.#records.add(rule));
    return rule;
  }

  async replace(rule: R): Promise<R> {
    if (!(await this.#withFreeName(() => this.#records.replace(rule)))) throw this.#unknown();
    return rule;
  }

  async remove(teamId: TeamId, id: string): Promise<void> {
    if (!(await this.#records.remove(teamId, id))) throw this.#unknown();
  }

  async #withFreeName<T>(store: () => Promise<T>): Promise<T> {
    try {
      return await store();
    } catch (error) {
      if (!(error instanceof UniqueConflict) || error.what !== "name") throw error;
      throw invalidMember("name", `another ${this.#kind} has this name`);
    }
  }

  #unknown(): AppError {
    return new AppError("resource_not_found", `There is no such ${this.#kind}.`);
  }
}

type RuleOrigin = Pick<Rule, "id" | "teamId" | "creatorId" | "createdAt" | "updatedAt">;

/** The members of a new rule that its author does not choose. */
export function newRule({ id: creatorId, teamId }: Viewer, now: Date): RuleOrigin {
  return { id: newId(now), teamId, creatorId, createdAt: now, updatedAt: now };
}

/** The members of a rule that a replacement keeps. */
export function sameRule({ id, teamId, creatorId, createdAt }: Rule, now: Date): RuleOrigin {
  return { id, teamId, creatorId, createdAt, updatedAt: now };
}
