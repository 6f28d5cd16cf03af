import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  axeFindings,
  type BrowserHarness,
  reasonToSkipChromium,
  startBrowserHarness,
} from "../support/chromium.ts";

const skipped = await reasonToSkipChromium();

const ALIGNMENTS = ["---", ":--", ":-:", "--:"];
/** A table for each pair of alignments. */
const TABLES = ALIGNMENTS.flatMap((one) =>
  ALIGNMENTS.map(
    (other) =>
      `| Name | Number |\n| ${one} | ${other} |\n| **bold** | \`1\\|2\` |\n| [a](https://localhost/) | ~~x~~ |`,
  ),
);

const GFM = [
  "# One\n## Two\n### Three\n#### Four\n##### Five\n###### Six\n\nSetext\n======\n\nLower\n------",
  "A *b* **c** ***d*** _e_ __f__ ~~g~~ ~h~ `i` ``j ` k``  \nhard break\\\nanother &amp; &copy; &#35; \\* escaped &CounterClockwiseContourIntegral; &noSuchName; &lt;b&gt;",
  "- a\n  - b\n    - c\n\n* d\n+ e\n\n1. one\n2. two\n   1. inner\n\n7) seven",
  "- [ ] open task\n- [x] done task\n- [X] also done\n  - [ ] inner task\n\n1. [x] numbered task\n\n- [ ]not a task\n- [x](https://localhost/) is a link",
  "> quote\n> > inner\n>\n> - list\n\n> [!NOTE]\n> An alert",
  "    indented code\n\n```ts\nconst a: number = 1;\n```\n\n~~~\ntildes\n~~~\n\n```mermaid\ngraph TD; a-->b\n```\n\n```diff\n- a\n+ b\n```",
  '<https://localhost/a> www.example.invalid https://localhost/b a@example.invalid [ref] [ref][] [text][ref] ![picture](https://localhost/p.png "title") [title](https://localhost/ \'title\')\n\n[ref]: https://localhost/ref "t"',
  "---\n***\n___",
  '<div style="color:red">block</div>\n\ninline <span style=\'color:red\' onclick="x()">html</span> <br> <!-- comment --> <style>p{}</style>\n\n<details open><summary>s</summary>text</details>\n\n<table style="width:1px"><tr><td style="text-align:right">x</td></tr></table>',
  "Footnote[^1] :tada: $a^2$ H~2~O @person #12\n\n[^1]: The note.",
  `| Wide | ${"Column | ".repeat(14)}\n| --- | ${"--- | ".repeat(14)}\n| words in a cell stay whole | ${"incomprehensibilities | ".repeat(14)}`,
  "| a |\n| - |\n| [ ] no task |",
  ...TABLES,
].join("\n\n");

describe.skipIf(skipped !== undefined)("Markdown in a browser", () => {
  let harness: BrowserHarness;
  let context: BrowserContext;
  let page: Page;
  beforeAll(async () => {
    harness = await startBrowserHarness();
    context = await harness.open({ key: harness.service.apiKey });
    await context.addInitScript(
      "window.violations = []; addEventListener('securitypolicyviolation', (event) => violations.push(event.violatedDirective + ' ' + event.sample));",
    );
    const { run_id } = await harness.api("/runs", { prompt: GFM, title: "Markdown" });
    page = await context.newPage();
    await page.goto(`${harness.service.url}/runs/${run_id}`);
    await page.getByText("Done", { exact: true }).first().waitFor();
    await page
      .getByRole("button", { name: /Show all|Show more/ })
      .first()
      .click();
    await page.locator(".md table").first().waitFor();
  });
  afterAll(() => harness.close());

  test("characters are known by their names, and become no elements", async () => {
    const text = await page.locator(".md p", { hasText: "another" }).first().textContent();

    expect(text).toContain("another & © # * escaped ∳ &noSuchName; <b>");
  });

  test("nothing in it violates the content policy", async () => {
    expect(await page.locator(".md table").count()).toBe(TABLES.length + 2);
    expect(await page.evaluate("violations")).toEqual([]);
    expect(harness.complaints).toEqual([]);
    expect(await page.locator(".md [style], .md style, .md img, .md script").count()).toBe(0);
  });

  test("columns have their alignment", async () => {
    const alignments = await page.evaluate(`[...document.querySelectorAll(".md table")]
      .filter((table) => table.textContent.includes("Number"))
      .map((table) => [...table.querySelectorAll("th")].map((cell) => getComputedStyle(cell).textAlign))`);

    const side = (marker: string) => ({ ":-:": "center", "--:": "right" })[marker] ?? "left";
    expect(alignments).toEqual(
      ALIGNMENTS.flatMap((one) => ALIGNMENTS.map((other) => [side(one), side(other)])),
    );
  });

  test("a wide table scrolls sideways and does not break inside words", async () => {
    const [hidden, lines] = await page.evaluate<number[]>(`(() => {
      const cell = [...document.querySelectorAll(".md td")].find((each) => each.textContent === "incomprehensibilities");
      const box = cell.closest(".table-scroll");
      const words = document.createRange();
      words.selectNodeContents(cell);
      return [box.scrollWidth - box.clientWidth, words.getClientRects().length];
    })()`);

    expect(hidden).toBeGreaterThan(500);
    expect(lines).toBe(1);
    expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);
  });

  test("tasks are check boxes that show whether they are done", async () => {
    const boxes = page.locator(".md li.task > input[type=checkbox]:disabled");

    const checked = await Promise.all((await boxes.all()).map((box) => box.isChecked()));
    expect(checked).toEqual([false, true, true, false, true]);
    expect(await page.locator(".md input").count()).toBe(5);
    expect(await page.locator(".md li.task").first().textContent()).toBe("open task");
    expect(await axeFindings(page)).toEqual([]);
  });
});
