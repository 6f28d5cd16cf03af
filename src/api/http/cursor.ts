import type { RunId } from "../../core/ids.ts";
import type { RunPosition, RunQuery } from "../../core/runs/run-query.ts";
import { SignedPlaces } from "../auth/signed-place.ts";

type Walk = Omit<RunQuery, "limit" | "after">;
type Position = [value: string, id: RunId, until: string | null];

/** Where a page of runs ended, opaque to the caller: good for the sort, the filters and the viewer it was made for. */
export class Cursors {
  readonly #places: SignedPlaces;

  constructor(secret: string) {
    this.#places = new SignedPlaces(secret, "cursor");
  }

  encode({ value, id, until }: RunPosition, walk: Walk): string {
    const position = Buffer.from(JSON.stringify([value, id, until])).toString("base64url");
    return this.#places.encode(position, membersOf(walk));
  }

  decode(cursor: string, walk: Walk): RunPosition {
    const position = this.#places.decode(cursor, membersOf(walk));
    const [value, id, until] = JSON.parse(Buffer.from(position, "base64url").toString()) as Position;
    return { value, id, ...(typeof until === "string" ? { until } : {}) };
  }
}

function membersOf({ viewer, filters, sort, order }: Walk): readonly unknown[] {
  return [viewer.id, sort, order, Object.entries(filters).sort(byName)];
}

function byName([left]: [string, unknown], [right]: [string, unknown]): number {
  return left < right ? -1 : 1;
}
