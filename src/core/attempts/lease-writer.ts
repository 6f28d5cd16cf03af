import { AppError } from "../errors.ts";
import { type LeaseToken, newId, type RunId } from "../ids.ts";
import { type Clock, sleep } from "../ports/clock.ts";
import type { RunStore } from "../ports/storage.ts";
import type { Run } from "../runs/run.ts";
import { RunEdit } from "../runs/run-edit.ts";
import type { NoticeWriter } from "../threads/notice-writer.ts";

/** How long an attempt goes on trying to store something while the database is away. */
const RETRY_FOR_MS = 60_000;
const RETRY_PAUSE_MS = 500;

export interface Written<T> {
  readonly run: Run;
  /** What `decide` returned. */
  readonly value: T;
}

/** The run is no longer this attempt's. Nothing may be written any more. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/**
 * All writes of one attempt. Each carries the lease's token, is done once however often it is tried (a database
 * that goes away may have stored what it did not answer), and outlasts a restart of the database.
 */
export class LeaseWriter {
  readonly #runs: RunStore;
  readonly #runId: RunId;
  readonly #token: LeaseToken;
  readonly #clock: Clock;
  readonly #writer: NoticeWriter;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(parts: { runs: RunStore; runId: RunId; token: LeaseToken; clock: Clock; writer: NoticeWriter }) {
    this.#runs = parts.runs;
    this.#runId = parts.runId;
    this.#token = parts.token;
    this.#clock = parts.clock;
    this.#writer = parts.writer;
  }

  /** Writes wait for one another, so that they are stored in the order in which they were asked for. */
  write<T>(decide: (edit: RunEdit) => T): Promise<Written<T>> {
    const written = this.#queue.then(() => this.#persist(decide));
    this.#queue = written.catch(() => undefined);
    return written;
  }

  async #persist<T>(decide: (edit: RunEdit) => T): Promise<Written<T>> {
    const lastWrite = newId(this.#clock.now());
    const giveUpAt = this.#clock.now().getTime() + RETRY_FOR_MS;
    const outcome: { value?: { readonly of: T } } = {};
    for (;;) {
      try {
        return await this.#writeOnce(lastWrite, decide, outcome);
      } catch (error) {
        const passes = error instanceof AppError && error.code === "resource_unavailable";
        if (!passes || this.#clock.now().getTime() > giveUpAt) throw error;
        await sleep(this.#clock, RETRY_PAUSE_MS);
      }
    }
  }

  async #writeOnce<T>(
    lastWrite: string,
    decide: (edit: RunEdit) => T,
    outcome: { value?: { readonly of: T } },
  ): Promise<Written<T>> {
    const run = await this.#runs.change(this.#runId, (subject) => {
      if (subject.run.lease?.token !== this.#token) throw new LeaseLost();
      // Stored by an earlier try whose answer was lost; what was decided then holds.
      if (subject.run.lastWrite === lastWrite) return undefined;
      const edit = new RunEdit(subject, { now: this.#clock.now(), writer: this.#writer });
      outcome.value = { of: decide(edit) };
      edit.set({ lastWrite });
      return edit.done();
    });
    if (outcome.value === undefined) throw new Error("A store must call `decide`.");
    return { run, value: outcome.value.of };
  }
}
