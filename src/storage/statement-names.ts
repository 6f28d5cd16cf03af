import { createHash } from "node:crypto";

/**
 * A connection keeps the plan of each named statement until it closes, some tens of kilobytes each. The texts of a
 * program are few; this many is for statements that are put together from what somebody asks for.
 */
const NAMES_MAX = 300;

/** The names under which statements are prepared. What comes when all are given away is not prepared. */
export class StatementNames {
  readonly #names = new Map<string, string>();

  /** Empty: without a name. */
  nameOf(text: string): string {
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    if (this.#names.size >= NAMES_MAX) return "";
    const name = createHash("sha1").update(text).digest("base64url");
    this.#names.set(text, name);
    return name;
  }
}
