import { AppError } from "../core/errors.ts";
import type { RunId } from "../core/ids.ts";
import type { RunPosition, RunQuery } from "../core/runs/run-query.ts";
import { Signer } from "./signer.ts";

type Walk = Omit<RunQuery, "limit" | "after">;
type Position = [value: string, id: RunId, until: string | null];

/**
 * Where a page ended, opaque to the caller. Signed together with the sort, the filters and the viewer it was made
 * for: with any of them changed it is refused, rather than answered with a page that skips or doubles runs.
 */
export class Cursors {
  readonly #signer: Signer;

  constructor(secret: string) {
    this.#signer = new Signer(secret, "cursor");
  }

  encode({ value, id, until }: RunPosition, walk: Walk): string {
    const position = Buffer.from(JSON.stringify([value, id, until])).toString("base64url");
    return `${position}.${this.#signer.sign(signed(position, walk))}`;
  }

  decode(cursor: string, walk: Walk): RunPosition {
    const [position = "", signature = "", ...others] = cursor.split(".");
    const isOurs = this.#signer.verify(signed(position, walk), signature);
    if (!isOurs || others.length > 0) throw invalidCursor();
    const [value, id, until] = JSON.parse(Buffer.from(position, "base64url").toString()) as Position;
    return { value, id, ...(typeof until === "string" ? { until } : {}) };
  }
}

function signed(position: string, { viewer, filters, sort, order }: Walk): string {
  return JSON.stringify([position, viewer.id, sort, order, Object.entries(filters).sort(byName)]);
}

function byName([left]: [string, unknown], [right]: [string, unknown]): number {
  return left < right ? -1 : 1;
}

export function invalidCursor(): AppError {
  return new AppError(
    "invalid_request",
    "The cursor is damaged, or was made with another sort or other filters.",
    {
      issues: [{ path: "cursor", message: "does not belong to this sort and these filters" }],
      remedy: "Start again without a cursor.",
    },
  );
}
