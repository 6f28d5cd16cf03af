import { Connection } from "./connection.ts";
import type { RequestShape } from "./load-order.ts";
import { RequestWriter } from "./request-writer.ts";

/** A request to a server. */
export interface Target {
  readonly url: string;
  readonly request: RequestShape;
}

export interface Latencies<Name extends string> {
  /** Each of the others has as many latencies. */
  readonly subject: readonly number[];
  readonly others: Readonly<Record<Name, readonly number[]>>;
}

/**
 * Requests `subject` and one of the others alternately, one request at a time. So other load on the machine affects
 * all of them equally, and none profits from the processor caches that its own previous request filled. Returns
 * latencies in ms without the warm-up rounds. Rejects at the first answer that is not 2xx.
 */
export async function takeTurns<Name extends string>(
  subject: Target,
  others: Readonly<Record<Name, Target>>,
  rounds: number,
  warmUpRounds: number,
): Promise<Latencies<Name>> {
  const first = new Asker(subject);
  const askers = new Map((Object.keys(others) as Name[]).map((name) => [name, new Asker(others[name])]));
  const all = [first, ...askers.values()];
  try {
    for (let round = 0; round < warmUpRounds + rounds; round += 1) {
      if (round === warmUpRounds) {
        for (const asker of all) {
          asker.latenciesMs.length = 0;
        }
      }
      for (const asker of askers.values()) {
        await first.ask();
        await asker.ask();
      }
    }
  } finally {
    for (const asker of all) {
      asker.close();
    }
  }
  const latencies = Array.from(askers, ([name, asker]) => [name, asker.latenciesMs]);
  return { subject: first.latenciesMs, others: Object.fromEntries(latencies) as Record<Name, number[]> };
}

class Asker {
  readonly #target: Target;
  readonly #writer: RequestWriter;
  readonly #connection: Connection;
  /** The latencies of all answers since the list was last emptied. */
  readonly latenciesMs: number[] = [];
  #answer = Promise.withResolvers<void>();
  #lost: Error | undefined;

  constructor(target: Target) {
    const url = new URL(target.url);
    this.#target = target;
    this.#writer = new RequestWriter([target.request], url.host);
    this.#connection = new Connection(
      url,
      (_, status, sinceMs) => this.#take(status, performance.now() - sinceMs),
      (error) => {
        this.#lost = error;
        this.#answer.reject(error);
      },
    );
  }

  async ask(): Promise<void> {
    if (this.#lost !== undefined) {
      throw this.#lost;
    }
    this.#answer = Promise.withResolvers();
    this.#connection.send(this.#writer.next(), performance.now());
    return this.#answer.promise;
  }

  close(): void {
    this.#connection.close();
  }

  #take(status: number, latencyMs: number): void {
    const { method, path } = this.#target.request;
    this.latenciesMs.push(latencyMs);
    if (status >= 200 && status < 300) {
      this.#answer.resolve();
    } else {
      this.#answer.reject(new Error(`${method} ${path} was answered ${status}.`));
    }
  }
}
