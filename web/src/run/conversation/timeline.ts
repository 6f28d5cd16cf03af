import type { RunEvent } from "@errand/client";
import { type Block, Grouping, type Row, rowsOf } from "./blocks.ts";
import { Conversation } from "./conversation.ts";

/** The rows of a conversation. Those before the first changed entry stay as they are. */
export class Timeline {
  readonly conversation = new Conversation();
  readonly #openFolds = new Set<string>();
  readonly #blocks: Block[] = [];
  /** The index of the first row of each block. */
  readonly #rowStarts: number[] = [];
  readonly #rows: Row[] = [];

  get rows(): readonly Row[] {
    return this.#rows;
  }

  append(events: readonly RunEvent[]): void {
    this.conversation.append(events);
    this.#update(this.conversation.takeChangedFrom());
  }

  prepend(events: readonly RunEvent[]): void {
    this.conversation.prepend(events);
    this.#update(this.conversation.takeChangedFrom());
  }

  /** Opens or closes the steps behind a row of the kind `fold`. */
  toggleFold(key: string): void {
    if (!this.#openFolds.delete(key)) {
      this.#openFolds.add(key);
    }
    const row = this.#rows.findIndex((each) => each.key === key);
    const block = this.#rowStarts.findLastIndex((start) => start <= row);
    this.#update(this.#blocks[block]?.start ?? 0);
  }

  /** Groups the entries from this index on again. The block before them may continue with them. */
  #update(changedFrom: number): void {
    while (this.#blocks.length > 0 && !isBefore(this.#blocks.at(-1), changedFrom)) {
      this.#blocks.pop();
      this.#rows.length = this.#rowStarts.pop() ?? 0;
    }
    const { entries } = this.conversation;
    const last = this.#blocks.at(-1);
    const grouping = new Grouping(last, (block) => {
      this.#blocks.push(block);
      this.#rowStarts.push(this.#rows.length);
      this.#rows.push(...rowsOf(block, this.#openFolds));
    });
    for (let index = last === undefined ? 0 : endOf(last); index < entries.length; index += 1) {
      const entry = entries[index];
      if (entry !== undefined) {
        grouping.add(entry, index);
      }
    }
    grouping.close();
  }
}

/** Whether the entries from this index on cannot change the block. */
function isBefore(block: Block | undefined, index: number): boolean {
  return block !== undefined && block.kind !== "day" && endOf(block) < index;
}

function endOf({ start, entries }: Block): number {
  return start + entries.length;
}
