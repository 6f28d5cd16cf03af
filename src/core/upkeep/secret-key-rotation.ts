import type { SecretBox } from "../basics/crypto.ts";
import type { Log } from "../basics/log.ts";

/** A row with values that are sealed under another key than the present one. */
export interface SealedRow {
  readonly table: string;
  readonly id: string;
  /** What its sealed values are bound to. */
  readonly owner: string;
  /** The text of the column that contains them. */
  readonly content: string;
}

/** Finds sealed values in all tables. `prefix`: what values begin with that are sealed under the present key. */
export interface SealedValueStore {
  readonly tables: readonly string[];
  /** In the order of the ids, those after `after`. */
  list(prefix: string, table: string, after: string | undefined): Promise<readonly SealedRow[]>;
  /** Does nothing if the row was changed or deleted since it was read. */
  replace(row: SealedRow, content: string): Promise<void>;
  /** How many rows have values under another key. */
  count(prefix: string): Promise<number>;
}

export interface SecretKeyRotationDeps {
  readonly values: SealedValueStore;
  readonly box: SecretBox;
  readonly log: Log;
}

/**
 * Seals everything anew that is not sealed under the present secret key, so that earlier keys can be removed. Several
 * processes may do this at once, also beside processes that still seal under an earlier key: the next round finds what
 * they have stored.
 */
export class SecretKeyRotation {
  readonly #deps: SecretKeyRotationDeps;
  #isBusy = false;

  constructor(deps: SecretKeyRotationDeps) {
    this.#deps = deps;
  }

  /** Logs the outcome. A failed round is repeated by the next. */
  async round(): Promise<void> {
    if (this.#isBusy) {
      return;
    }
    this.#isBusy = true;
    const { box, log, values } = this.#deps;
    try {
      const sealed = await this.#sealAll();
      const left = await values.count(box.prefix);
      if (left > 0) {
        log.warn("secret_key.values.left", { left, sealed });
      } else {
        log.info("secret_key.values.sealed", { sealed });
      }
    } catch (error) {
      log.warn("secret_key.rotation.failed", { error });
    } finally {
      this.#isBusy = false;
    }
  }

  /** Returns how many rows were sealed anew. */
  async #sealAll(): Promise<number> {
    const { box, values } = this.#deps;
    let sealed = 0;
    for (const table of values.tables) {
      let rows = await values.list(box.prefix, table, undefined);
      while (rows.length > 0) {
        for (const row of rows) {
          const content = this.#sealedAnew(row);
          if (content !== undefined) {
            await values.replace(row, content);
            sealed += 1;
          }
        }
        rows = await values.list(box.prefix, table, rows.at(-1)?.id);
      }
    }
    return sealed;
  }

  /** Undefined when nothing could be sealed anew. A value whose key is not known stays as it is. */
  #sealedAnew({ content, owner }: SealedRow): string | undefined {
    const { box } = this.#deps;
    const sealed = content.replace(SEALED_VALUE, (value) => {
      try {
        return value.startsWith(box.prefix) ? value : box.seal(box.open(value, owner), owner);
      } catch {
        return value;
      }
    });
    return sealed === content ? undefined : sealed;
  }
}

/** A sealed value has no character that JSON escapes, so it can be replaced in the text of a JSON column. */
const SEALED_VALUE = /(?<=^|"|"sealed:)v1\.[0-9a-f]{8}\.[\w-]+(?=$|")/g;
