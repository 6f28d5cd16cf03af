import type { Answer } from "./sender.ts";

/** The body of a response together with the response. */
export interface WithResponse<T> {
  readonly data: T;
  /** Its status and headers. Its body has been read. */
  readonly response: Response;
  /** The id of the request in the logs of the server. */
  readonly requestId: string | undefined;
}

/** Sends the request. False: the body of the response is left to the caller. */
export type Send = (readsBody: boolean) => Promise<Answer>;

/**
 * The result of a call: a promise of the parsed body. The request is sent once, as soon as the current function
 * yields, whether or not the promise is awaited.
 */
export class ApiPromise<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = "ApiPromise";
  readonly #answer: Promise<Answer>;
  readonly #dataOf: (answer: Answer) => T;
  #readsBody = true;

  constructor(send: Send, dataOf: (answer: Answer) => T) {
    this.#dataOf = dataOf;
    // Later, so that `asResponse` can be called before.
    this.#answer = Promise.resolve().then(() => send(this.#readsBody));
  }

  /** The parsed body, with the response that it came in. */
  async withResponse(): Promise<WithResponse<T>> {
    const answer = await this.#answer;
    const { response } = answer;
    const requestId = response.headers.get("x-request-id") ?? undefined;
    return { data: this.#dataOf(answer), response, requestId };
  }

  /**
   * The response as it came from `fetch`, with an unread body. Call it directly on the result of a method, before any
   * `await`. Errors of the server are thrown as usual.
   */
  async asResponse(): Promise<Response> {
    this.#readsBody = false;
    return (await this.#answer).response;
  }

  // biome-ignore lint/suspicious/noThenProperty: this is a promise.
  then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#answer.then(this.#dataOf).then(onFulfilled, onRejected);
  }

  catch<B = never>(onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.then(undefined, onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<T> {
    return this.then().finally(onFinally);
  }
}
