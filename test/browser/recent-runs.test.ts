import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  axeFindings,
  type BrowserHarness,
  reasonToSkipChromium,
  startBrowserHarness,
} from "../support/chromium.ts";

const skipped = await reasonToSkipChromium();

describe.skipIf(skipped !== undefined)("the runs beside a run in a browser", () => {
  let harness: BrowserHarness;
  beforeAll(async () => {
    harness = await startBrowserHarness();
  });
  afterAll(() => harness.close());

  test("are those of the same person, and the pages about other things are folded", async () => {
    const { uid } = await harness.api("/principals", { type: "user", display_name: "Ann Lee" });
    const { key } = await harness.api("/keys", { name: "Ann", scopes: ["runs:write"], principal_uid: uid });
    await harness.api("/runs", { prompt: "say first", title: "The first" });
    const { run_id } = await harness.api("/runs", { prompt: "say second", title: "The second" });
    await fetch(`${harness.service.url}/api/v1/agent/runs`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ prompt: "say other", title: "Of another person" }),
    });
    const context = await harness.open({ key: harness.service.apiKey });
    const page = await context.newPage();
    await page.goto(`${harness.service.url}/runs/${run_id}`);
    const recent = page.getByRole("navigation", { name: "Recent runs" });
    await recent.getByRole("link", { name: "The first" }).waitFor();

    expect(await recent.getByRole("link", { name: "Of another person" }).count()).toBe(0);
    expect(await recent.locator("[aria-current=page]").getAttribute("title")).toBe("The second");
    expect(await page.getByRole("link", { name: "Environments" }).isVisible()).toBe(false);
    expect([await axeFindings(page), harness.complaints]).toEqual([[], []]);
    await page.locator("summary", { hasText: "Configure and operate" }).press("Enter");
    await page.getByRole("link", { name: "Environments" }).waitFor();
    await recent.getByRole("link", { name: "The first" }).click();
    await page.getByRole("heading", { name: "The first", level: 1 }).waitFor();
  });
});
