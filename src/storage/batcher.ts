export interface BatcherOptions<Item, Answer> {
  /** Returns one answer for each item, in order. It must be repeatable for a part of the items. */
  readonly perform: (items: readonly Item[]) => Promise<readonly Answer[]>;
  /** Only one item with the same key is in flight at a time. Default: no limit. */
  readonly keyOf?: (item: Item) => string;
  readonly itemsMax: number;
}

/** Many callers read runs at the same time, mainly those that watch them. */
export const READ_TOGETHER_MAX = 50;

/** While one batch waits for the disk or the network, the next one is prepared. */
const UNDER_WAY_MAX = 2;

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly done: (answer: Answer) => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Runs items that arrive together as one batch, where that costs hardly more than one item. An item never waits while
 * nothing is in flight. At most two batches are in flight, and the second starts early only if it is at least as
 * large as the first, because many small batches cost twice as much as few large ones. The items of a failed batch
 * run again one by one, so that no item fails because of another.
 */
export class Batcher<Item, Answer> {
  readonly #options: BatcherOptions<Item, Answer>;
  #waiting: readonly Waiting<Item, Answer>[] = [];
  #underWay = 0;
  #itemsUnderWay = 0;

  constructor(options: BatcherOptions<Item, Answer>) {
    this.#options = options;
  }

  do(item: Item): Promise<Answer> {
    return new Promise((done, failed) => {
      this.#waiting = [...this.#waiting, { item, done, failed }];
      this.#next();
    });
  }

  #next(): void {
    if (this.#underWay >= UNDER_WAY_MAX || this.#waiting.length === 0) {
      return;
    }
    if (this.#waiting.length < this.#itemsUnderWay) {
      return;
    }
    const batch = this.#takeBatch();
    this.#underWay += 1;
    this.#itemsUnderWay += batch.length;
    void this.#perform(batch).finally(() => {
      this.#underWay -= 1;
      this.#itemsUnderWay -= batch.length;
      this.#next();
    });
  }

  /** The item that has waited longest, and those that may join it. */
  #takeBatch(): readonly Waiting<Item, Answer>[] {
    const { itemsMax, keyOf } = this.#options;
    const keys = new Set<string>();
    const batch = new Set<Waiting<Item, Answer>>();
    for (const each of this.#waiting) {
      if (batch.size === itemsMax) {
        break;
      }
      const key = keyOf?.(each.item);
      if (key !== undefined && keys.has(key)) {
        continue;
      }
      batch.add(each);
      if (key !== undefined) {
        keys.add(key);
      }
    }
    this.#waiting = this.#waiting.filter((each) => !batch.has(each));
    return [...batch];
  }

  async #perform(batch: readonly Waiting<Item, Answer>[]): Promise<void> {
    try {
      const answers = await this.#options.perform(batch.map(({ item }) => item));
      batch.forEach(({ done }, index) => {
        done(answers[index] as Answer);
      });
    } catch (error) {
      if (batch.length > 1) {
        await Promise.all(batch.map((alone) => this.#perform([alone])));
      } else {
        for (const { failed } of batch) {
          failed(error);
        }
      }
    }
  }
}
