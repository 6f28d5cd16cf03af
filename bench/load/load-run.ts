import { quantile } from "../statistics.ts";
import { Connection } from "./connection.ts";
import type { LoadOrder, LoadResult } from "./load-order.ts";
import { RequestWriter } from "./request-writer.ts";

const TICK_MS = 1;

/** Carries out one order. */
export class LoadRun {
  readonly #order: LoadOrder;
  readonly #writer: RequestWriter;
  readonly #connections: readonly Connection[];
  readonly #ended = Promise.withResolvers<LoadResult>();
  readonly #free: Connection[] = [];
  /** The due times of requests that wait for a connection. */
  readonly #waiting: number[] = [];
  readonly #latenciesMs: number[] = [];
  readonly #refused: Record<string, number> = {};
  #measuredFromMs = Number.POSITIVE_INFINITY;
  #isOver = false;
  /** The number of requests without an answer. */
  #underWay = 0;
  #seconds = 0;

  constructor(order: LoadOrder) {
    const url = new URL(order.url);
    this.#order = order;
    this.#writer = new RequestWriter(order.requests, url.host);
    const lost = (error: Error) => {
      if (!this.#isOver) {
        this.#ended.reject(error);
      }
    };
    this.#connections = Array.from(
      { length: order.connections },
      () =>
        new Connection(url, (connection, status, sinceMs) => this.#take(connection, status, sinceMs), lost),
    );
  }

  async perform(onMeasuring: () => void): Promise<LoadResult> {
    const { perSecond, seconds, warmUpSeconds } = this.#order;
    const startMs = performance.now();
    if (perSecond === undefined) {
      for (const connection of this.#connections) {
        this.#send(connection);
      }
    } else {
      this.#pace(startMs, perSecond);
    }
    setTimeout(() => {
      this.#measuredFromMs = performance.now();
      onMeasuring();
      setTimeout(() => this.#end(), seconds * 1_000);
    }, warmUpSeconds * 1_000);
    return this.#ended.promise;
  }

  /** An open loop: a slow answer delays no later request, and the wait for a connection counts. */
  #pace(startMs: number, perSecond: number): void {
    this.#free.push(...this.#connections);
    let started = 0;
    const timer = setInterval(() => {
      if (this.#isOver) {
        clearInterval(timer);
      }
      const nowMs = performance.now();
      const due = Math.floor(((nowMs - startMs) * perSecond) / 1_000);
      for (; started < due && !this.#isOver; started += 1) {
        this.#start(nowMs);
      }
    }, TICK_MS);
  }

  #start(nowMs: number): void {
    // Connections are used in rotation, because the server closes idle ones.
    const connection = this.#free.shift();
    if (connection === undefined) {
      this.#waiting.push(nowMs);
    } else {
      this.#send(connection, nowMs);
    }
  }

  #send(connection: Connection, sinceMs = performance.now()): void {
    this.#underWay += 1;
    connection.send(this.#writer.next(), sinceMs);
  }

  #take(connection: Connection, status: number, sinceMs: number): void {
    this.#underWay -= 1;
    if (this.#isOver) {
      this.#finish();
      return;
    }
    const { status: expected } = this.#order;
    const isGood = expected === undefined ? status >= 200 && status < 300 : status === expected;
    if (!isGood) {
      this.#refused[status] = (this.#refused[status] ?? 0) + 1;
    }
    if (isGood && sinceMs >= this.#measuredFromMs) {
      this.#latenciesMs.push(performance.now() - sinceMs);
    }
    this.#goOn(connection);
  }

  #goOn(connection: Connection): void {
    if (this.#order.perSecond === undefined) {
      this.#send(connection);
      return;
    }
    const dueMs = this.#waiting.shift();
    if (dueMs === undefined) {
      this.#free.push(connection);
    } else {
      this.#send(connection, dueMs);
    }
  }

  #end(): void {
    if (this.#isOver) {
      return;
    }
    this.#isOver = true;
    this.#seconds = (performance.now() - this.#measuredFromMs) / 1_000;
    this.#finish();
  }

  /** Waits for outstanding requests, because otherwise they would fall into the next window. */
  #finish(): void {
    if (this.#underWay > 0) {
      return;
    }
    for (const connection of this.#connections) {
      connection.close();
    }
    const sorted = Float64Array.from(this.#latenciesMs).sort();
    this.#ended.resolve({
      answers: sorted.length,
      seconds: this.#seconds,
      p50Ms: quantile(sorted, 0.5),
      p99Ms: quantile(sorted, 0.99),
      maxMs: quantile(sorted, 1),
      refused: this.#refused,
    });
  }
}
