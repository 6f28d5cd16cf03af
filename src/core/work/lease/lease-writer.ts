import type { Clock } from "../../basics/clock.ts";
import { type LeaseToken, newId, type RunId } from "../../basics/ids.ts";
import { retry, WHILE_UNAVAILABLE } from "../../basics/retry.ts";
import type { Run } from "../../model/runs/run.ts";
import type { RunAggregate, RunStore } from "../../ports/stores/run-store.ts";
import type { NoticeWriter } from "../../runs/notice-writer.ts";
import { RunEdit } from "../../runs/run-edit.ts";

export interface Written<T> {
  readonly run: Run;
  /** The return value of `decide`. */
  readonly value: T;
}

/** The run no longer belongs to this attempt, which must no longer write. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/**
 * Performs all writes of one attempt. Each write carries the lease token and takes effect once, however often it is
 * tried: a database that became unreachable may have stored a write without confirming it. Writes survive a restart
 * of the database.
 */
export class LeaseWriter {
  readonly #runs: RunStore;
  readonly #runId: RunId;
  readonly #token: LeaseToken;
  readonly #clock: Clock;
  readonly #writer: NoticeWriter;
  #queue: Promise<unknown> = Promise.resolve();
  #latest: RunAggregate | undefined;

  constructor(parts: {
    runs: RunStore;
    runId: RunId;
    known?: RunAggregate | undefined;
    token: LeaseToken;
    clock: Clock;
    writer: NoticeWriter;
  }) {
    this.#runs = parts.runs;
    this.#runId = parts.runId;
    this.#latest = parts.known;
    this.#token = parts.token;
    this.#clock = parts.clock;
    this.#writer = parts.writer;
  }

  /** The run after the last read or write of this attempt. Others may have changed it since. */
  get latest(): RunAggregate | undefined {
    return this.#latest;
  }

  /** The current run, also if this attempt has lost it. */
  async read(): Promise<RunAggregate> {
    this.#latest = await this.#runs.getAggregate(this.#runId);
    return this.#latest;
  }

  /** The current run with its waiting follow-ups. */
  async getAggregate(): Promise<RunAggregate> {
    const aggregate = await retry(this.#clock, WHILE_UNAVAILABLE, () => this.read());
    if (aggregate.run.lease?.token !== this.#token) {
      throw new LeaseLost();
    }
    return aggregate;
  }

  /** Performs writes one after another, in the order in which they were requested. */
  write<T>(decide: (edit: RunEdit) => T): Promise<Written<T>> {
    const written = this.#queue.then(() => this.#persist(decide));
    this.#queue = written.catch(() => undefined);
    return written;
  }

  #persist<T>(decide: (edit: RunEdit) => T): Promise<Written<T>> {
    const lastWrite = newId(this.#clock.now());
    const outcome: { value?: { readonly of: T } } = {};
    return retry(this.#clock, WHILE_UNAVAILABLE, () => this.#writeOnce(lastWrite, decide, outcome));
  }

  async #writeOnce<T>(
    lastWrite: string,
    decide: (edit: RunEdit) => T,
    outcome: { value?: { readonly of: T } },
  ): Promise<Written<T>> {
    const known = this.#latest;
    // If the write fails, nobody knows whether it was stored.
    this.#latest = undefined;
    const { next, run } = await this.#runs.changeOwn(
      this.#runId,
      (aggregate) => {
        if (aggregate.run.lease?.token !== this.#token) {
          throw new LeaseLost();
        }
        // An earlier try stored this write but its confirmation was lost. What it decided still holds.
        if (aggregate.run.lastWrite === lastWrite) {
          return undefined;
        }
        const edit = new RunEdit(aggregate, { now: this.#clock.now(), writer: this.#writer });
        outcome.value = { of: decide(edit) };
        edit.set({ lastWrite });
        return edit.done();
      },
      known,
    );
    this.#latest = next;
    if (outcome.value === undefined) {
      throw new Error("A store must call `decide`.");
    }
    return { run, value: outcome.value.of };
  }
}
