import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  axeFindings,
  type BrowserHarness,
  reasonToSkipChromium,
  startBrowserHarness,
} from "../support/chromium.ts";

const skipped = await reasonToSkipChromium();

describe.skipIf(skipped !== undefined)("the board of runs in a browser", () => {
  let harness: BrowserHarness;
  let context: BrowserContext;
  beforeAll(async () => {
    harness = await startBrowserHarness();
    context = await harness.open({ key: harness.service.apiKey });
    await create("It ended", "say done");
    await create("It works", "hang");
    await create("It asks", "ask", { interactive: true });
  });
  afterEach(async () => {
    await Promise.all(context.pages().map((page) => page.close()));
  });
  afterAll(() => harness.close());

  async function create(title: string, prompt: string, more: object = {}): Promise<void> {
    await harness.api("/runs", { prompt, title, ...more });
  }

  async function openBoard(page: Page): Promise<void> {
    await page.goto(`${harness.service.url}/`);
    await page.getByRole("navigation", { name: "Layout" }).getByRole("link", { name: "Board" }).click();
    await page.waitForURL(/layout=board/);
    await column(page, "Done").getByText("It ended").waitFor();
    await column(page, "Working").getByText("It works").waitFor();
    await column(page, "Needs you").getByText("It asks").waitFor();
  }

  const column = (page: Page, name: string) =>
    page.locator(".board .runs-group", { has: page.getByRole("heading", { name, exact: true }) });
  const heads = (page: Page) => page.locator(".board h2").allTextContents();
  const focused = (page: Page) => page.evaluate("document.activeElement.textContent");

  test("has a column for each state, and what waits for the user stands first", async () => {
    const page = await context.newPage();
    await openBoard(page);

    expect(await heads(page)).toEqual(["Needs you", "Working", "Done"]);
    const lefts = await page
      .locator(".board .runs-group")
      .evaluateAll((groups) => groups.map((group) => group.getBoundingClientRect().x));
    expect(new Set(lefts).size).toBe(3);
    expect([await axeFindings(page), harness.complaints]).toEqual([[], []]);
    // The views stay boards.
    await page.getByRole("navigation", { name: "Runs" }).getByRole("link", { name: "Running" }).click();
    await page.waitForURL(/view=running/);
    await expect.poll(() => heads(page)).toEqual(["Needs you", "Working"]);
    await page.getByRole("link", { name: "List" }).click();
    await page.getByRole("heading", { name: "Running", level: 2 }).waitFor();
  });

  test("is walked by keyboard, and the focus stays on a run that moves", async () => {
    const page = await context.newPage();
    await openBoard(page);
    await page.keyboard.press("j");
    expect(await focused(page)).toBe("It asks");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    expect(await focused(page)).toBe("It ended");
    await page.keyboard.press("ArrowLeft");
    expect(await focused(page)).toBe("It works");

    const { runs } = (await harness.api("/runs?q=hang")) as { runs: { run_id: string }[] };
    await harness.api(`/runs/${runs[0]?.run_id}/cancel`, {});
    await column(page, "Stopped").getByText("It works").waitFor();

    await expect.poll(() => focused(page)).toBe("It works");
  });

  test("stands in one column on a phone", async () => {
    const phone = await harness.open({
      key: harness.service.apiKey,
      viewport: { width: 390, height: 844 },
    });
    const page = await phone.newPage();
    await page.goto(`${harness.service.url}/?layout=board`);
    await column(page, "Done").getByText("It ended").waitFor();

    const lefts = await page
      .locator(".board .runs-group")
      .evaluateAll((groups) => groups.map((group) => group.getBoundingClientRect().x));
    expect(new Set(lefts).size).toBe(1);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    expect(await axeFindings(page)).toEqual([]);
    await phone.close();
  });

  test("filters are saved under a name, also for the next visit, and deleted", async () => {
    const page = await context.newPage();
    await page.goto(`${harness.service.url}/?state=SUCCEEDED&layout=board`);
    await column(page, "Done").getByText("It ended").waitFor();
    await page.getByRole("button", { name: "Save these filters" }).press("Enter");
    await page.getByText("Kept in this browser.").waitFor();
    await page.keyboard.type("What is done");
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "What is done" }).waitFor();

    await page.goto(`${harness.service.url}/`);
    await page.getByRole("link", { name: "What is done" }).press("Enter");
    await page.waitForURL(/state=SUCCEEDED/);
    await expect.poll(() => heads(page)).toEqual(["Done"]);
    expect(await page.getByRole("button", { name: "Save these filters" }).count()).toBe(0);
    await page.getByRole("button", { name: "Delete the saved filters What is done" }).press("Enter");
    await page.getByRole("button", { name: "Save these filters" }).waitFor();
    // What another program wrote there is left out.
    await page.evaluate('localStorage.setItem("errand.filters", "[null, 1, {}, {\\"name\\": \\"Kept\\"}]")');
    await page.goto(`${harness.service.url}/`);
    await page.getByRole("link", { name: "Kept" }).waitFor();
    expect(harness.complaints).toEqual([]);
  });
});
