import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BrowserHarness, reasonToSkipChromium, startBrowserHarness } from "../support/chromium.ts";

const skipped = await reasonToSkipChromium();

describe.skipIf(skipped !== undefined)("the pages that a member is sent to", () => {
  let harness: BrowserHarness;
  beforeAll(async () => {
    harness = await startBrowserHarness();
  });
  afterAll(() => harness.close());

  /** The first page of a member with this key, and the requests that the server refuses on all of their pages. */
  async function signIn(scopes: readonly string[]): Promise<{ page: Page; refused: string[] }> {
    const { uid } = await harness.api("/principals", { type: "user", display_name: "Mira" });
    const { key } = await harness.api("/keys", { name: "Mira", scopes, principal_uid: uid });
    const context = await harness.open({ key: String(key) });
    const refused: string[] = [];
    context.on("response", (response) => {
      if (response.status() === 403) {
        refused.push(response.url());
      }
    });
    const page = await context.newPage();
    await page.goto(`${harness.service.url}/`);
    await page.getByRole("heading", { name: "Send an agent on its first errand" }).waitFor();
    return { page, refused };
  }

  test.each([
    [
      "who may change settings",
      ["runs:write", "settings:write"],
      ["Environments", "Schedules", "Skills", "Secrets", "MCP servers", "Agents", "People", "Usage"],
    ],
    ["who may only read runs", ["runs:read"], ["Environments", "Schedules", "Skills", "Usage"]],
  ])("%s is offered no page that refuses them", async (_who, scopes, offered) => {
    const { page, refused } = await signIn(scopes);
    const links = page.locator("nav[aria-label=Configure] a, nav[aria-label=Operate] a");
    await expect.poll(() => links.allTextContents()).toEqual(offered);

    for (const name of offered) {
      await links.filter({ hasText: new RegExp(`^${name}$`) }).click();
      await page.getByRole("heading", { name, level: 1 }).waitFor();
      await page
        .getByText(/^Loading /)
        .first()
        .waitFor({ state: "detached" });
      expect(await page.getByRole("alert").count()).toBe(0);
    }
    await page.keyboard.press("Control+k");
    await expect
      .poll(() => page.getByRole("option").allTextContents())
      .toEqual(["New run", "All runs", ...offered, "Your account"]);
    expect([refused, harness.complaints]).toEqual([[], []]);
    await page.context().close();
  });

  test("the first page leads operators to the set-up, and tells members who does it", async () => {
    const { page } = await signIn(["runs:write", "settings:write"]);
    await page.getByText("An operator of this server connects Slack.").waitFor();
    expect(await page.getByRole("link", { name: "Set up" }).count()).toBe(0);
    await page.context().close();

    const context = await harness.open({ key: harness.service.apiKey });
    const own = await context.newPage();
    await own.goto(`${harness.service.url}/`);
    await own.getByRole("link", { name: "Connect Slack" }).waitFor();
    await own.getByRole("link", { name: "Set up" }).waitFor();
    await context.close();
  });
});
