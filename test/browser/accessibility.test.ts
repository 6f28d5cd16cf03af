import type { BrowserContext } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  axeFindings,
  type BrowserHarness,
  reasonToSkipChromium,
  startBrowserHarness,
} from "../support/chromium.ts";

const skipped = await reasonToSkipChromium();

const PAGES: readonly (readonly [path: string, heading: string])[] = [
  ["/", "All runs"],
  ["/?view=needs&q=nothing", "Needs you"],
  ["/new", "New run"],
  ["/setup", "Set up"],
  ["/integrations", "Integrations"],
  ["/system", "System"],
  ["/account", "Your account"],
  ["/environments", "Environments"],
  ["/nothing-here", "There is nothing at this address"],
  ["/signin", "Sign in to Errand"],
  ["/device", "Sign in a program"],
  ["/problems/conflict", "Conflict"],
];

describe.skipIf(skipped !== undefined)("the pages for everybody", () => {
  let harness: BrowserHarness;
  const contexts = new Map<string, BrowserContext>();
  beforeAll(async () => {
    harness = await startBrowserHarness();
    const key = harness.service.apiKey;
    await fetch(`${harness.service.url}/api/v1/agent/runs`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ prompt: "ask; say done", title: "A run with a question", interactive: true }),
    });
    contexts.set("light", await harness.open({ key, colorScheme: "light" }));
    contexts.set("dark", await harness.open({ key, colorScheme: "dark" }));
    contexts.set("phone", await harness.open({ key, viewport: { width: 390, height: 844 }, hasTouch: true }));
  });
  afterAll(() => harness.close());

  describe.each(["light", "dark", "phone"])("in the look %s", (look) => {
    test.each(PAGES)(
      "axe finds nothing serious on %s, and it has no sideways scroll",
      async (path, heading) => {
        const page = await contexts.get(look)?.newPage();
        if (page === undefined) {
          throw new Error("No browser is open.");
        }
        await page.goto(harness.service.url + path);
        await page.getByRole("heading", { name: heading, exact: true, level: 1 }).waitFor();
        await page
          .getByText(/^Loading /)
          .first()
          .waitFor({ state: "detached" });

        const findings = await axeFindings(page);
        const isWide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
        await page.close();

        expect([findings, isWide]).toEqual([[], false]);
      },
    );
  });
});
