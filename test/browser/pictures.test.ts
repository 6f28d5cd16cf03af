import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  axeFindings,
  type BrowserHarness,
  fixtureAgent,
  reasonToSkipChromium,
  startBrowserHarness,
} from "../support/chromium.ts";

const skipped = await reasonToSkipChromium();

describe.skipIf(skipped !== undefined)("pictures of tools in a browser", () => {
  let harness: BrowserHarness;
  beforeAll(async () => {
    harness = await startBrowserHarness(fixtureAgent("picture-agent.mjs"));
  });
  afterAll(() => harness.close());

  test("pictures are shown within bounds, and other content is named with its type and size", async () => {
    const context = await harness.open({ key: harness.service.apiKey });
    const { run_id } = await harness.api("/runs", { prompt: "take a screenshot" });
    const page = await context.newPage();
    await page.goto(`${harness.service.url}/runs/${run_id}`);
    await page.getByRole("button", { name: /Take a screenshot/ }).click();

    const step = page.locator(".step").filter({ hasText: "Take a screenshot" });
    const picture = step.getByRole("img", { name: "Picture 1 of: Take a screenshot" });
    await picture.waitFor();
    await step.getByText("The browser cannot show this picture").waitFor();
    const { height = 0, width = 0 } = (await picture.boundingBox()) ?? {};

    expect(height).toBeGreaterThan(100);
    expect(height).toBeLessThanOrEqual(490);
    expect(width / height).toBeCloseTo(1_200 / 3_000, 1);
    expect(await step.getByRole("img").count()).toBe(1);
    expect(await step.locator(".media p").allTextContents()).toEqual([
      expect.stringMatching(/^Binary content of the type image\/svg\+xml, 1\d\d B\.$/),
      "Binary content of the type audio/wav, 2 kB.",
      expect.stringMatching(
        /^Binary content of the type image\/png, \d+ B\. The browser cannot show this picture\.$/,
      ),
    ]);
    await step.getByText("The page looks right.").waitFor();
    await page.getByRole("img", { name: "Picture 1 of: agent_message_chunk" }).waitFor();
    expect(await page.getByText("iVBORw0KGgo").count()).toBe(0);
    expect(await page.title()).not.toBe("taken");
    expect([await axeFindings(page), harness.complaints]).toEqual([[], []]);
  });

  test("a picture is shown among the files of the run", async () => {
    const context = await harness.open({ key: harness.service.apiKey });
    const { run_id } = await harness.api("/runs", { prompt: "take a screenshot" });
    const page = await context.newPage();
    await page.goto(`${harness.service.url}/runs/${run_id}?tab=files`);

    const picture = page.getByRole("img", { name: "Screenshot: Take a screenshot" });
    await picture.waitFor();
    await expect.poll(() => picture.evaluate((image) => Object(image).naturalHeight)).toBe(3_000);
    // The message repeats the picture of the tool. The other content is no picture.
    expect(await page.getByRole("img", { name: "Screenshot:" }).count()).toBe(1);
    expect([await axeFindings(page), harness.complaints]).toEqual([[], []]);
  });
});
