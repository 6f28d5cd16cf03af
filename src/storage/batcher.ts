export interface BatcherOptions<Item, Answer> {
  /** One answer for each item, in their order. Must be repeatable for a part of the items. */
  readonly perform: (items: readonly Item[]) => Promise<readonly Answer[]>;
  /** Of items with the same one, only one goes at a time; none where it is left out. */
  readonly keyOf?: (item: Item) => string;
  readonly itemsMax: number;
}

/** While one waits for the disk or the network, the next is worked on. */
const UNDER_WAY_MAX = 2;

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly done: (answer: Answer) => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Has things that arrive together done together, where that costs hardly more than one of them. Nobody waits for company
 * while there is nothing to do. What comes while others are under way goes beside them once there is as much of it, else
 * after them: many small companies cost twice as much as few large ones. What fails together is done again one by one, so
 * that nothing fails for another's sake.
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
    if (this.#underWay >= UNDER_WAY_MAX || this.#waiting.length === 0) return;
    if (this.#waiting.length < this.#itemsUnderWay) return;
    const company = this.#takeBatch();
    this.#underWay += 1;
    this.#itemsUnderWay += company.length;
    void this.#perform(company).finally(() => {
      this.#underWay -= 1;
      this.#itemsUnderWay -= company.length;
      this.#next();
    });
  }

  /** The one that has waited longest, and those that may go with it. */
  #takeBatch(): readonly Waiting<Item, Answer>[] {
    const { itemsMax, keyOf } = this.#options;
    const keys = new Set<string>();
    const company = new Set<Waiting<Item, Answer>>();
    for (const each of this.#waiting) {
      if (company.size === itemsMax) break;
      const key = keyOf?.(each.item);
      if (key !== undefined && keys.has(key)) continue;
      company.add(each);
      if (key !== undefined) keys.add(key);
    }
    this.#waiting = this.#waiting.filter((each) => !company.has(each));
    return [...company];
  }

  async #perform(company: readonly Waiting<Item, Answer>[]): Promise<void> {
    try {
      const answers = await this.#options.perform(company.map(({ item }) => item));
      company.forEach(({ done }, index) => {
        done(answers[index] as Answer);
      });
    } catch (error) {
      if (company.length > 1) await Promise.all(company.map((alone) => this.#perform([alone])));
      else for (const { failed } of company) failed(error);
    }
  }
}
