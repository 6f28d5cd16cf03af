import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  axeFindings,
  type BrowserHarness,
  reasonToSkipChromium,
  startBrowserHarness,
} from "../support/chromium.ts";
import { waitFor } from "../support/wait-for.ts";

const skipped = await reasonToSkipChromium();

/** More events than two pages of the log have. */
const SAID = 260;
const LONG_RUN = Array.from(
  { length: SAID },
  (_, index) =>
    `say part ${index}. ${"words ".repeat(1 + 2 * (index % 40))}\nwrite file-${index}.txt ${index}`,
).join("\n");
/** Quiet steps in a row are folded. */
const FOLDED_STEPS = Array.from({ length: 8 }, (_, index) => `shell echo folded-${index}`).join("\n");

interface Event {
  readonly kind: string;
  readonly seq: number;
  readonly turn: number;
  readonly text?: string;
  readonly title?: string;
  readonly tool_call_id?: string;
}

describe.skipIf(skipped !== undefined)("an entry of a run, by its link or by a search", () => {
  let harness: BrowserHarness;
  let context: BrowserContext;
  let runId: string;
  let events: readonly Event[];
  beforeAll(async () => {
    harness = await startBrowserHarness();
    context = await harness.open({ key: harness.service.apiKey });
    runId = await startRun(`${LONG_RUN}\n${FOLDED_STEPS}\nsay the end of the long run`);
    await waitFor(async () => (await harness.api(`/runs/${runId}`)).state === "SUCCEEDED", {
      what: "the end of the run",
    });
    events = await eventsOf(runId);
  });
  afterAll(() => harness.close());

  async function startRun(prompt: string): Promise<string> {
    const { run_id } = await harness.api("/runs", { prompt });
    return String(run_id);
  }

  async function eventsOf(id: string): Promise<readonly Event[]> {
    const all: Event[] = [];
    for (;;) {
      const page = await harness.api(`/runs/${id}/events?limit=500&after=${all.at(-1)?.seq ?? 0}`);
      const read = page.events as readonly Event[];
      all.push(...read);
      if (read.length < 500) {
        return all;
      }
    }
  }

  async function open(id: string, key: string): Promise<Page> {
    const page = await context.newPage();
    await page.goto(`${harness.service.url}/runs/${id}#${key}`);
    return page;
  }

  /** Waits until the whole log is loaded. The entry is highlighted then, and its beginning is on the screen. */
  async function expectShown(page: Page, key: string): Promise<void> {
    const entry = page.locator(`.entry-row.linked [id="${key}"]`);
    await entry.waitFor();
    await page.locator(".earlier:not(.gone)").waitFor({ state: "detached" });
    let before = Number.NaN;
    // The list measures its rows and corrects its place in a few frames.
    const top = await waitFor(
      async () => {
        const { y = Number.NaN } = (await entry.boundingBox()) ?? {};
        const isStill = y === before;
        before = y;
        return isStill && y;
      },
      { what: "the list to be still", everyMs: 200 },
    );
    expect(top).toBeGreaterThan(40);
    expect(top).toBeLessThan(800);
  }

  function keyOfWords(part: number): string {
    const said = events.filter(({ kind }) => kind === "agent.message");
    return `message-${said.find(({ text }) => text?.includes(`part ${part}.`))?.seq}`;
  }

  test("the run is longer than two pages of its log", () => {
    expect(events.length).toBeGreaterThan(1_000);
  });

  test.each([0, 1, 60, 130, 200, SAID - 1])(
    "opens at message %i, also far up in a long run",
    async (part) => {
      const page = await open(runId, keyOfWords(part));

      await expectShown(page, keyOfWords(part));
      await page.close();
    },
  );

  test("opens the fold that hides its step", async () => {
    const step = events.find(({ title }) => title?.includes("folded-5"));
    const key = `tool-${step?.turn}-${step?.tool_call_id}`;
    const page = await open(runId, key);

    await expectShown(page, key);
    await page.close();
  });

  test("leads from one entry to another without a new page", async () => {
    const page = await open(runId, keyOfWords(200));
    await expectShown(page, keyOfWords(200));

    await page.evaluate(`location.hash = "${keyOfWords(3)}"`);

    await expectShown(page, keyOfWords(3));
    await page.goBack();
    await expectShown(page, keyOfWords(200));
    await page.close();
  });

  test("is found by keys in the whole log, also far above what is loaded", async () => {
    const page = await context.newPage();
    await page.goto(`${harness.service.url}/runs/${runId}`);
    await page.getByText("the end of the long run").last().waitFor();

    await page.keyboard.press("/");
    await page.keyboard.type("PART 7");
    const status = page.getByRole("search").getByRole("status");
    // The prompt, "part 7." and "part 70." to "part 79.". Without a match below the screen, the last one is shown.
    await expect.poll(() => status.textContent()).toBe("12 of 12");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await expectShown(page, keyOfWords(7));
    const findings = await axeFindings(page);
    const focused = await page.evaluate("document.activeElement.type");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.press("Shift+Enter");
    await expectShown(page, keyOfWords(79));
    await page.keyboard.press("Escape");

    await page.getByRole("search").waitFor({ state: "detached" });
    expect([findings, focused]).toEqual([[], "search"]);
    expect(await page.evaluate("document.activeElement.dataset.key")).toBe(keyOfWords(79));
    await page.close();
  });

  test("is searched again after a part of the log could not be read, and the page says so", async () => {
    const page = await context.newPage();
    const earlier = /events\?.*before=/;
    await page.route(earlier, (route) => route.fulfill({ status: 400, json: {} }));
    await page.goto(`${harness.service.url}/runs/${runId}`);
    await page.getByRole("button", { name: "Search in this run" }).click();
    await page.getByLabel("Where").selectOption("Files");

    await page.getByText(/^Not complete: 500 of [\d,.]+ events so far\./).waitFor();
    await page.unroute(earlier);
    await page.getByRole("button", { name: "Read the others" }).click();

    const status = page.getByRole("search").getByRole("status");
    await expect.poll(() => status.textContent()).toMatch(new RegExp(`of ${SAID}$`));
    await page.close();
  });

  test("to nothing shows the end of the run", async () => {
    const page = await open(runId, "message-999999");

    await page.getByText("the end of the long run").last().waitFor();
    await expect
      .poll(() => page.evaluate("document.documentElement.scrollHeight - innerHeight - scrollY"))
      .toBeLessThan(80);
    await page.close();
  });

  test("holds its place while the run continues below", async () => {
    const live = await startRun(
      `${LONG_RUN.split("\n").slice(0, 60).join("\n")}\nsleep 5\n${"say more\nwrite a.txt b\n".repeat(20)}say live end`,
    );
    await waitFor(async () => (await eventsOf(live)).some(({ text }) => text?.includes("part 20.")), {
      what: "the first part of the run",
    });
    const said = (await eventsOf(live)).find(({ text }) => text?.includes("part 10."));
    const key = `message-${said?.seq}`;
    const page = await open(live, key);
    await expectShown(page, key);

    await waitFor(async () => (await harness.api(`/runs/${live}`)).state === "SUCCEEDED", {
      what: "the end of the run",
    });
    await page.getByText("Done", { exact: true }).first().waitFor();

    await expectShown(page, key);
    await page.getByRole("button", { name: /new entries/ }).click();
    await page.getByText("live end").last().waitFor();
    await page.close();
  });
});
