import { defined } from "../../core/basics/defined.ts";
import type { RunId } from "../../core/basics/ids.ts";
import type { RunPosition, RunQuery } from "../../core/ports/stores/run-query.ts";
import { SignedCursors } from "./signed-cursors.ts";

type Listing = Omit<RunQuery, "limit" | "after">;
type Position = [value: string, id: RunId, until: string | null, isSimilar?: true];

/** Opaque cursors for pages of runs. A cursor is valid only for its sort, filters and viewer. */
export class Cursors {
  readonly #places: SignedCursors;

  constructor(secret: string) {
    this.#places = new SignedCursors(secret, "cursor");
  }

  encode({ value, id, until, isSimilar }: RunPosition, listing: Listing): string {
    const members = [value, id, until, ...(isSimilar === true ? [true] : [])];
    const position = Buffer.from(JSON.stringify(members)).toString("base64url");
    return this.#places.encode(position, membersOf(listing));
  }

  decode(cursor: string, listing: Listing): RunPosition {
    const position = this.#places.decode(cursor, membersOf(listing));
    const [value, id, until, isSimilar] = JSON.parse(
      Buffer.from(position, "base64url").toString(),
    ) as Position;
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
