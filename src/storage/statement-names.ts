import { createHash } from "node:crypto";

/**
 * A connection keeps the plan of each named statement until it closes, some tens of kilobytes each. The statements of
 * the program are few; the rest of the limit is for statements composed from requests.
 */
const NAMES_MAX = 300;

/** The names of prepared statements. When all names are used, further statements are not prepared. */
export class StatementNames {
  readonly #names = new Map<string, string>();

  /** Empty: the statement gets no name. */
  nameOf(text: string): string {
    const known = this.#names.get(text);
    if (known !== undefined) {
      return known;
    }
    if (this.#names.size >= NAMES_MAX) {
      return "";
    }
    const name = createHash("sha1").update(text).digest("base64url");
    this.#names.set(text, name);
    return name;
  }
}
