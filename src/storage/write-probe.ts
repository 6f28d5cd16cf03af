import { AppError } from "../core/basics/errors.ts";
import { translateFault } from "./database-fault.ts";

/** How long the result of a probe counts. A database that failed is probed again soon. */
const GOOD_MS = 5_000;
const BAD_MS = 1_000;

/**
 * Needs new space on the disk, unlike a change of an existing row, and leaves nothing behind. Not a `TRUNCATE` of a
 * table made for this, because a running backup would block it.
 */
const PROBE = `
  DO $$
  BEGIN
    EXECUTE format('CREATE TABLE errand_write_probe_%s AS SELECT repeat(''x'', 100) FROM generate_series(1, 500)',
      pg_backend_pid());
    RAISE SQLSTATE 'ERR01';
  EXCEPTION WHEN SQLSTATE 'ERR01' THEN
    NULL;
  END $$`;

/** Finds out whether the database can be written to, by writing at most every few seconds. */
export class WriteProbe {
  readonly #perform: (statement: string) => Promise<unknown>;
  #running: Promise<void> | undefined;
  #last: { readonly atMs: number; readonly fault: AppError | undefined } | undefined;

  constructor(perform: (statement: string) => Promise<unknown>) {
    this.#perform = perform;
  }

  /** Rejects when the database cannot be written to. Answers from the last result while that is fresh. */
  async check(): Promise<void> {
    if (!this.#isFresh()) {
      this.#running ??= this.#probe().finally(() => {
        this.#running = undefined;
      });
      await this.#running;
    }
    if (this.#last?.fault !== undefined) {
      throw this.#last.fault;
    }
  }

  #isFresh(): boolean {
    if (this.#last === undefined) {
      return false;
    }
    const limitMs = this.#last.fault === undefined ? GOOD_MS : BAD_MS;
    return performance.now() - this.#last.atMs < limitMs;
  }

  /** An error that is no fault says nothing: the role of another installation may not create tables, for example. */
  async #probe(): Promise<void> {
    const fault = await this.#perform(PROBE).then(() => undefined, translateFault);
    this.#last = { atMs: performance.now(), fault: fault instanceof AppError ? fault : undefined };
  }
}
