import { InvalidResponseError } from "../errors.ts";
import type { PageInfo } from "../generated/types.ts";
import { ApiPromise, type Send } from "./api-promise.ts";
import type { Answer } from "./sender.ts";

/**
 * The result of a method that lists. Awaited, it is the body of one response. Iterated, it yields the entries of this
 * page and of all pages behind it, and reads each page when it is needed.
 *
 * @example
 * for await (const run of client.runs.list({ state: ["FAILED"] })) {
 *   console.log(run.title);
 * }
 */
export class ListPromise<Body, Entry> extends ApiPromise<Body> implements AsyncIterable<Entry> {
  readonly #entriesOf: (body: Body) => readonly Entry[];
  readonly #listBehind: (cursor: string) => ListPromise<Body, Entry>;

  constructor(
    send: Send,
    entriesOf: (body: Body) => readonly Entry[],
    listBehind: (cursor: string) => ListPromise<Body, Entry>,
  ) {
    super(send, (answer) => pageOf(answer, entriesOf));
    this.#entriesOf = entriesOf;
    this.#listBehind = listBehind;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Entry, void, undefined> {
    for await (const page of this.pages()) {
      yield* this.#entriesOf(page);
    }
  }

  /** This page, and then each page behind it. */
  async *pages(): AsyncGenerator<Body, void, undefined> {
    let page: Body = await this;
    yield page;
    for (let cursor = cursorBehind(page); cursor !== undefined; cursor = cursorBehind(page)) {
      page = await this.#listBehind(cursor);
      yield page;
    }
  }
}

/** The server promises the type in its OpenAPI document, but something else may have answered. */
function pageOf<Body, Entry>(
  { body, name, response }: Answer,
  entriesOf: (body: Body) => readonly Entry[],
): Body {
  const isObject = typeof body === "object" && body !== null;
  if (!isObject || !Array.isArray(entriesOf(body as Body))) {
    throw new InvalidResponseError(`has no list "${memberOf(entriesOf)}"`, { name, response });
  }
  return body as Body;
}

/** The name of the member that the function reads. */
function memberOf<Body>(entriesOf: (body: Body) => unknown): string {
  const names: string[] = [];
  entriesOf(new Proxy({}, { get: (_, name) => names.push(String(name)) }) as Body);
  return names.join();
}

/** Lists without pages have no `page_info`. */
function cursorBehind(page: { readonly page_info?: PageInfo } | unknown): string | undefined {
  const info = (page as { readonly page_info?: PageInfo }).page_info;
  return info?.has_next_page === true ? info.next_cursor : undefined;
}
