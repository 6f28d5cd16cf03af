import { type Clock, withTimeout } from "../basics/clock.ts";
import type { Log } from "../basics/log.ts";
import { type Check, type Finding, fail, type NamedFinding } from "../ports/check.ts";

/** A check that takes longer counts as failed. */
const CHECK_LIMIT_MS = 5_000;

export interface DoctorDeps {
  readonly checks: readonly Check[];
  readonly clock: Clock;
  readonly log: Log;
}

/** Runs all checks at the same time. */
export class Doctor {
  readonly #deps: DoctorDeps;

  constructor(deps: DoctorDeps) {
    this.#deps = deps;
  }

  /** In the order of the checks. */
  examine(): Promise<readonly NamedFinding[]> {
    return Promise.all(this.#deps.checks.map((check) => this.#perform(check)));
  }

  async #perform(check: Check): Promise<NamedFinding> {
    const { clock } = this.#deps;
    const finding = await withTimeout(this.#run(check), CHECK_LIMIT_MS, { clock, onTimeout: () => TOO_LATE });
    return { name: check.name, ...finding };
  }

  async #run(check: Check): Promise<Finding> {
    try {
      return await check.run();
    } catch (error) {
      this.#deps.log.warn("doctor.check.failed", { check: check.name, error });
      return fail("The check failed.", "The log says why, under doctor.check.failed.");
    }
  }
}

const TOO_LATE = fail(
  `There was no answer within ${CHECK_LIMIT_MS / 1_000} s.`,
  "See that this server reaches the database and the other systems that the check uses.",
);
