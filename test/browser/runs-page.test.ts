import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type BrowserHarness, reasonToSkipChromium, startBrowserHarness } from "../support/chromium.ts";

const skipped = await reasonToSkipChromium();

describe.skipIf(skipped !== undefined)("the list of runs in a browser", () => {
  let harness: BrowserHarness;
  let context: BrowserContext;
  beforeAll(async () => {
    harness = await startBrowserHarness();
    context = await harness.open({ key: harness.service.apiKey });
  });
  afterEach(async () => {
    await Promise.all(context.pages().map((page) => page.close()));
  });
  afterAll(() => harness.close());

  async function visit(path: string): Promise<Page> {
    const page = await context.newPage();
    await page.goto(harness.service.url + path);
    return page;
  }

  async function createRun(prompt: string, more: object = {}): Promise<string> {
    const response = await fetch(`${harness.service.url}/api/v1/agent/runs`, {
      method: "POST",
      headers: { authorization: `Bearer ${harness.service.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ prompt, ...more }),
    });
    return ((await response.json()) as { run_id: string }).run_id;
  }

  function row(page: Page, title: string) {
    return page.locator(".run-row", { has: page.getByRole("link", { name: title, exact: true }) });
  }

  test("the first run is started from the empty state", async () => {
    const page = await visit("/");

    await page.getByRole("heading", { name: "Send an agent on its first errand" }).waitFor();
    await page.getByLabel("What should be done?").fill("say the first words");
    await page.getByRole("button", { name: "Start run" }).click();
    await page.waitForURL(/\/runs\/[0-9a-f-]{36}$/);
    await page.goto(`${harness.service.url}/`);

    await row(page, "say the first words").getByText("Done").waitFor();
  });

  test("a form without a prompt says so at the prompt and sends nothing", async () => {
    const page = await visit("/new");

    await page.getByRole("button", { name: "Start run" }).click();

    await page.getByText("Say what the agent should do.").waitFor();
    expect(await page.evaluate("document.activeElement.id")).toBe("prompt");
    expect(new URL(page.url()).pathname).toBe("/new");
  });

  test("a run that another program starts appears and changes without a reload", async () => {
    const page = await visit("/");
    await page.getByRole("heading", { name: "All runs" }).waitFor();

    await createRun("ask; say answered", { title: "A live run", interactive: true });

    await row(page, "A live run").getByText("Needs you").waitFor();
    await page.waitForFunction('document.title.startsWith("(1)")');
    expect(await row(page, "A live run").getByRole("link", { name: "Answer" }).count()).toBe(1);
  });

  test("filters stand in the address, and a result of none says so", async () => {
    const page = await visit("/");
    await page.getByRole("button", { name: "State" }).click();
    await page.getByRole("option", { name: "Failed" }).click();
    await page.waitForURL(/state=FAILED/);
    await page.getByText("No run matches these filters.").waitFor();

    await page.reload();
    await page.getByText("No run matches these filters.").waitFor();
    await page.getByRole("link", { name: "Clear filters" }).click();

    await page.waitForURL(`${harness.service.url}/`);
    await row(page, "say the first words").waitFor();
  });

  test("the search finds words of a prompt", async () => {
    await createRun("say marmalade", { title: "Something else" });
    const page = await visit("/");

    await page.getByLabel("Search runs").fill("marmalade");

    await page.waitForURL(/q=marmalade/);
    await row(page, "Something else").waitFor();
    await row(page, "say the first words").waitFor({ state: "detached" });
  });

  test("keys lead to the pages and through the list", async () => {
    const page = await visit("/");
    await page.getByRole("heading", { name: "All runs" }).waitFor();
    await page.locator(".run-title").first().waitFor();

    await page.keyboard.press("j");
    const focused = await page.evaluate("document.activeElement.className");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("g");
    await page.keyboard.press("n");
    await page.waitForURL(/view=needs/);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Command" }).fill("syst");
    await page.keyboard.press("Enter");

    await page.waitForURL(/\/system$/);
    expect(focused).toContain("run-title");
  });

  test("seven tabs of a browser stay live, because they share one event stream", async () => {
    const pages = await Promise.all(Array.from({ length: 7 }, () => visit("/")));
    for (const page of pages) {
      await page.getByRole("heading", { name: "All runs" }).waitFor();
    }

    await createRun("say seven", { title: "A run for seven tabs" });

    for (const page of pages) {
      await row(page, "A run for seven tabs").getByText("Done").waitFor();
    }
  });

  test("the list is not read again for each word of an agent", async () => {
    const page = await visit("/");
    await page.locator(".run-title").first().waitFor();
    let reads = 0;
    page.on("request", (request) => {
      reads += new URL(request.url()).pathname === "/api/v1/agent/runs" ? 1 : 0;
    });

    await createRun("flood 3000\nsleep 3\nflood 3000", { title: "A talkative run" });

    await row(page, "A talkative run").getByText("Done").waitFor();
    // Each change of the state is one read of three lists.
    expect(reads).toBeLessThanOrEqual(18);
  });

  test("the list continues after the server was started again", async () => {
    const page = await visit("/");
    await page.getByRole("heading", { name: "All runs" }).waitFor();

    await harness.restart();
    await createRun("say later", { title: "A run after the start" });

    await row(page, "A run after the start").waitFor();
  });

  test("an ended sign-in leads to the sign-in page and back", async () => {
    const own = await harness.open({ key: harness.service.apiKey });
    const page = await own.newPage();
    await page.goto(`${harness.service.url}/system`);
    await page.getByRole("heading", { name: "System" }).waitFor();
    await own.clearCookies();

    await page.getByRole("link", { name: "Integrations" }).click();

    await page.waitForURL(/\/signin\?next=%2Fintegrations$/);
    await own.close();
  });

  test("no page met an error of a script or a refusal of the content policy", () => {
    expect(harness.complaints).toEqual([]);
  });
});
