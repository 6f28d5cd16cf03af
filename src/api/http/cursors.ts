import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import type { RunId } from "../../core/basics/ids.ts";
import type { RunPosition, RunQuery } from "../../core/ports/stores/run-query.ts";
import type { PageInfo } from "../schemas/page-info.ts";
import { Signer } from "./signer.ts";

/**
 * Cursors that the caller sends back for the next page. The signature covers all parameters of the listing. A cursor
 * with other parameters is refused, because the page would skip or repeat items.
 */
export class SignedCursors {
  readonly #signer: Signer;

  constructor(secret: string, purpose: string) {
    this.#signer = new Signer(secret, purpose);
  }

  /** `position` must not contain a dot. */
  encode(position: string, listing: readonly unknown[]): string {
    return `${position}.${this.#signer.sign(JSON.stringify([position, ...listing]))}`;
  }

  /**
   * A page of rows that are listed by `seq`. `rows` has one row more than the page if there is a next page.
   */
  page<Row extends { readonly seq: bigint }>(
    rows: readonly Row[],
    limit: number,
    listing: readonly unknown[],
  ): { readonly page: readonly Row[]; readonly page_info: PageInfo } {
    const page = rows.slice(0, limit);
    return { page, page_info: this.pageInfo(rows.length > limit ? page.at(-1) : undefined, listing) };
  }

  /** `last`: the last row of the page, if there is a next page. */
  pageInfo(last: { readonly seq: bigint | number } | undefined, listing: readonly unknown[]): PageInfo {
    const next = last === undefined ? {} : { next_cursor: this.encode(String(last.seq), listing) };
    return { has_next_page: last !== undefined, ...next };
  }

  decode(cursor: string, listing: readonly unknown[]): string {
    const [position = "", signature = "", ...others] = cursor.split(".");
    const isOurs = this.#signer.verify(JSON.stringify([position, ...listing]), signature);
    if (!isOurs || others.length > 0) {
      throw invalidCursor();
    }
    return position;
  }
}

function invalidCursor(): AppError {
  return new AppError(
    "invalid_request",
    "The cursor is damaged or belongs to another sort or other filters.",
    {
      issues: [{ path: "cursor", message: "does not belong to this sort and these filters" }],
      remedy: "Start again without a cursor.",
    },
  );
}

type Listing = Omit<RunQuery, "limit" | "after">;
type Position = [value: string, id: RunId, until: string | null, isSimilar?: true];

/** Opaque cursors for pages of runs. A cursor is valid only for its sort, filters and viewer. */
export class Cursors {
  readonly #cursors: SignedCursors;

  constructor(secret: string) {
    this.#cursors = new SignedCursors(secret, "cursor");
  }

  encode({ value, id, until, isSimilar }: RunPosition, listing: Listing): string {
    const members = [value, id, until, ...(isSimilar === true ? [true] : [])];
    const position = Buffer.from(JSON.stringify(members)).toString("base64url");
    return this.#cursors.encode(position, membersOf(listing));
  }

  decode(cursor: string, listing: Listing): RunPosition {
    const position = this.#cursors.decode(cursor, membersOf(listing));
    const members: Position = JSON.parse(Buffer.from(position, "base64url").toString());
    const [value, id, until, isSimilar] = members;
    return defined({
      value,
      id,
      until: typeof until === "string" ? until : undefined,
      isSimilar: isSimilar === true ? isSimilar : undefined,
    });
  }
}

function membersOf({ viewer, filters, sort, order }: Listing): readonly unknown[] {
  return [viewer.id, sort, order, Object.entries(filters).sort(byName)];
}

function byName([left]: [string, unknown], [right]: [string, unknown]): number {
  return left < right ? -1 : 1;
}
