import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  axeFindings,
  type BrowserHarness,
  fixtureAgent,
  reasonToSkipChromium,
  startBrowserHarness,
} from "../support/chromium.ts";

const skipped = await reasonToSkipChromium();
const COMMAND = "npm install --save-dev left-pad";

describe.skipIf(skipped !== undefined)("a question about a command in a browser", () => {
  let harness: BrowserHarness;
  beforeAll(async () => {
    harness = await startBrowserHarness(fixtureAgent("asking-agent.mjs"));
  });
  afterAll(() => harness.close());

  /** Where the command can be read on the screen. It is also announced to screen readers. */
  const seen = (page: Page) =>
    page.getByRole("main").getByText(COMMAND).and(page.locator(":not([aria-live])"));

  test("says the command once, who asks and why, since when, and what a lasting answer covers", async () => {
    const context = await harness.open({ key: harness.service.apiKey });
    const { run_id } = await harness.api("/runs", { prompt: "add it", interactive: true });
    const page = await context.newPage();
    await page.goto(`${harness.service.url}/runs/${run_id}`);

    const card = page.getByRole("region", { name: "The agent asks to run a command" });
    await card.getByText(/asks because this run must ask before it acts \(.+\)\./).waitFor();
    await card.getByText(/^waiting \d+ (s|min)$/).waitFor();
    await card.getByText("“Allow for this run” also allows the later calls of this run").waitFor();
    expect(await seen(page).count()).toBe(1);
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press("y");

    await page.getByText("The answer was once.").waitFor();
    await page.getByText("Answer: Allow once").waitFor();
    expect(await seen(page).count()).toBe(1);
    expect(harness.complaints).toEqual([]);
  });
});
