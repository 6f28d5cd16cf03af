/** What GitHub answered to a call. */
export interface Received {
  readonly data: unknown;
  readonly link: string;
  /** GitHub compares it with a later answer and says whether that is the same. */
  readonly etag: string | undefined;
}

const ANSWERS_MAX = 500;
const LENGTH_MAX = 64 * 1024;

/** The last answers to reads, so that GitHub need not send and count them again while nothing has changed. */
export class KnownAnswers {
  readonly #answers = new Map<string, Received>();

  get(call: string): Received | undefined {
    return this.#answers.get(call);
  }

  /** An answer without an ETag, or a long one, is not kept. */
  keep(call: string, answer: Received): void {
    // The newest is the last, and the oldest is forgotten first.
    this.#answers.delete(call);
    if (answer.etag === undefined || lengthOf(answer.data) > LENGTH_MAX) {
      return;
    }
    this.#answers.set(call, answer);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > ANSWERS_MAX && oldest !== undefined) {
      this.#answers.delete(oldest);
    }
  }
}

/** Octokit reads an integer that a number cannot hold as a bigint. */
function lengthOf(data: unknown): number {
  const json = JSON.stringify(data, (_name, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
  return json?.length ?? 0;
}
