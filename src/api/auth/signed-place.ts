import { AppError } from "../../core/errors.ts";
import { Signer } from "./signer.ts";

/**
 * Where a page ended, as the caller carries it to the next one. Signed together with all that the walk was asked for: with
 * any of that changed it is refused, rather than answered with a page that skips or doubles things.
 */
export class SignedPlaces {
  readonly #signer: Signer;

  constructor(secret: string, purpose: string) {
    this.#signer = new Signer(secret, purpose);
  }

  /** `place` has no dot. */
  encode(place: string, walk: readonly unknown[]): string {
    return `${place}.${this.#signer.sign(JSON.stringify([place, ...walk]))}`;
  }

  decode(cursor: string, walk: readonly unknown[]): string {
    const [place = "", signature = "", ...others] = cursor.split(".");
    const isOurs = this.#signer.verify(JSON.stringify([place, ...walk]), signature);
    if (!isOurs || others.length > 0) throw invalidCursor();
    return place;
  }
}

function invalidCursor(): AppError {
  return new AppError(
    "invalid_request",
    "The cursor is damaged, or was made with another sort or other filters.",
    {
      issues: [{ path: "cursor", message: "does not belong to this sort and these filters" }],
      remedy: "Start again without a cursor.",
    },
  );
}
