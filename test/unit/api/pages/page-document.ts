/**
 * The part of the DOM that the pages use, so that their scripts run without a browser. It cannot represent markup.
 */
export class PageElement {
  readonly name: string;
  readonly children: PageElement[] = [];
  readonly dataset: Record<string, string> = {};
  className = "";
  href = "";
  hidden = false;
  open = false;
  value = "";
  readonly #listeners = new Map<string, (event: { preventDefault(): void }) => unknown>();
  #text = "";

  constructor(name: string) {
    this.name = name;
  }

  get textContent(): string {
    return this.#text + this.children.map((child) => child.textContent).join("");
  }

  set textContent(text: string) {
    this.children.length = 0;
    this.#text = text;
  }

  append(...children: PageElement[]): void {
    for (const child of children) {
      child.replaceWith = (other) => void this.children.splice(this.children.indexOf(child), 1, other);
      this.children.push(child);
    }
  }

  replaceWith(_other: PageElement): void {
    throw new Error("It is not on the page.");
  }

  addEventListener(kind: string, listener: (event: { preventDefault(): void }) => unknown): void {
    this.#listeners.set(kind, listener);
  }

  /** Does what a user of the page does. */
  async dispatch(kind: string): Promise<void> {
    await this.#listeners.get(kind)?.({ preventDefault: () => undefined });
  }

  querySelector(name: string): PageElement | null {
    return this.all().find((element) => element.name === name) ?? null;
  }

  all(): PageElement[] {
    return this.children.flatMap((child) => [child, ...child.all()]);
  }
}

export class PageDocument {
  readonly #byId = new Map<string, PageElement>();
  readonly body = Object.assign(new PageElement("body"), { scrollHeight: 100 });
  title = "";

  createElement(name: string): PageElement {
    return new PageElement(name);
  }

  getElementById(id: string): PageElement {
    const known = this.#byId.get(id) ?? new PageElement("div");
    this.#byId.set(id, known);
    return known;
  }
}
