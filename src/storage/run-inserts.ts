import type { Statements } from "./database.ts";
import { insertRuns, type NewRunRows } from "./insert-runs.ts";

/** More would make one caller wait for the others' rows; a statement costs hardly less for each. */
const ROWS_MAX = 32;
/** While one statement waits for the disk, the next is worked on. */
const STATEMENTS_MAX = 2;

interface Waiting {
  readonly rows: NewRunRows;
  readonly done: (isMade: boolean) => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Stores new runs that arrive together in one statement. Nobody waits for company: what comes while the statements
 * before are under way goes with the next one. A statement that fails is done again for each run alone, so that none
 * fails for another's sake.
 */
export class RunInserts {
  readonly #statements: Pick<Statements, "rows">;
  #waiting: readonly Waiting[] = [];
  #underWay = 0;

  constructor(statements: Pick<Statements, "rows">) {
    this.#statements = statements;
  }

  /** False when an answer is remembered under the run's key: nothing is stored then. */
  insert(rows: NewRunRows): Promise<boolean> {
    return new Promise((done, failed) => {
      this.#waiting = [...this.#waiting, { rows, done, failed }];
      this.#next();
    });
  }

  #next(): void {
    if (this.#underWay >= STATEMENTS_MAX || this.#waiting.length === 0) return;
    const together = companyOf(this.#waiting);
    this.#waiting = this.#waiting.filter((each) => !together.has(each));
    this.#underWay += 1;
    void this.#store([...together]).finally(() => {
      this.#underWay -= 1;
      this.#next();
    });
  }

  async #store(together: readonly Waiting[]): Promise<void> {
    try {
      const made = await insertRuns(
        this.#statements,
        together.map(({ rows }) => rows),
      );
      for (const { rows, done } of together) done(made.has(rows.origin.id));
    } catch (error) {
      if (together.length === 1) for (const { failed } of together) failed(error);
      else await Promise.all(together.map((alone) => this.#store([alone])));
    }
  }
}

/** Those that may go in one statement with the first: of several with one key only one, and with jobs of the same kinds. */
function companyOf(waiting: readonly Waiting[]): ReadonlySet<Waiting> {
  const [first] = waiting;
  const keys = new Set<string>();
  const company = new Set<Waiting>();
  for (const each of waiting) {
    if (company.size === ROWS_MAX) break;
    const key = keyOf(each);
    if (keys.has(key) || kindsOf(each) !== kindsOf(first)) continue;
    company.add(each);
    keys.add(key);
  }
  return company;
}

function keyOf({ rows: { change, origin } }: Waiting): string {
  return change.answer === undefined ? origin.id : `${change.answer.principalId} ${change.answer.key}`;
}

function kindsOf(waiting: Waiting | undefined): string {
  return waiting?.rows.jobs.map(({ text }) => text).join() ?? "";
}
