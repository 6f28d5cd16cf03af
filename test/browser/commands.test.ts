import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  axeFindings,
  type BrowserHarness,
  reasonToSkipChromium,
  startBrowserHarness,
} from "../support/chromium.ts";

const skipped = await reasonToSkipChromium();

describe.skipIf(skipped !== undefined)("the commands in a browser", () => {
  let harness: BrowserHarness;
  let context: BrowserContext;
  const ids = { old: "", working: "", asking: "" };
  beforeAll(async () => {
    harness = await startBrowserHarness();
    context = await harness.open({ key: harness.service.apiKey });
    ids.old = await create("The old one", "say done");
    ids.working = await create("A long errand", "hang");
    ids.asking = await create("An errand with a question", "ask", { interactive: true });
  });
  afterEach(async () => {
    await Promise.all(context.pages().map((page) => page.close()));
  });
  afterAll(() => harness.close());

  async function create(title: string, prompt: string, more: object = {}): Promise<string> {
    return String((await harness.api("/runs", { prompt, title, ...more })).run_id);
  }

  async function visit(path: string): Promise<Page> {
    const page = await context.newPage();
    await page.goto(harness.service.url + path);
    // The keys work when the page is there.
    await page.locator("h1").waitFor();
    return page;
  }

  async function visitRun(id: string, state: string): Promise<Page> {
    const page = await visit(`/runs/${id}`);
    await page.locator(".run-head .state", { hasText: state }).waitFor();
    return page;
  }

  async function openCommands(page: Page) {
    await page.keyboard.press("Control+k");
    const dialog = page.getByRole("dialog", { name: "Commands" });
    await dialog.getByRole("combobox").waitFor();
    return dialog;
  }

  const selected = (page: Page) => page.locator("[role=option][aria-selected=true]").allInnerTexts();

  test("find runs by title, id and repository, and open one with Enter", async () => {
    const page = await visit("/");
    await page.locator(".run-row", { hasText: "The old one" }).getByText("Done").waitFor();
    const dialog = await openCommands(page);
    await dialog.getByRole("group", { name: "Recent runs" }).getByText("The old one").waitFor();
    // Nothing is chosen before something is typed, so Enter does nothing.
    await page.keyboard.press("Enter");
    expect([await axeFindings(page), await selected(page)]).toEqual([[], []]);

    await page.keyboard.type("old one");
    await dialog.getByRole("option", { name: /^Done: ?The old one$/ }).waitFor();
    await page.keyboard.press("Control+a");
    await page.keyboard.type(ids.asking);
    await expect.poll(() => selected(page)).toEqual([expect.stringContaining("An errand with a question")]);
    await page.keyboard.press("Control+a");
    const request = page.waitForRequest((each) => each.url().includes("repository=acme%2Fweb"));
    await page.keyboard.type("acme/web");
    await request;
    await dialog.getByText("No run, action or page has these words.").waitFor();
    await page.keyboard.press("Control+a");
    await page.keyboard.type("old one");
    await expect.poll(() => selected(page)).toEqual([expect.stringContaining("The old one")]);
    await page.keyboard.press("Enter");

    await page.waitForURL(`${harness.service.url}/runs/${ids.old}`);
  });

  test("what was found with earlier words is not offered for later ones", async () => {
    const page = await visit("/");
    const answered: string[] = [];
    let release = () => {};
    const isReleased = new Promise<void>((done) => {
      release = done;
    });
    await page.route(/agent\/runs\?.*q=/, async (route) => {
      const text = new URL(route.request().url()).searchParams.get("q") ?? "";
      if (text === "nothing like it") {
        await isReleased;
      }
      answered.push(text);
      await route.continue().catch(() => undefined);
    });
    const dialog = await openCommands(page);
    await page.keyboard.type("hang");
    // The prompt has the word, which only the server knows.
    await dialog.getByRole("option", { name: "A long errand" }).waitFor();
    await page.keyboard.press("Control+a");
    await page.keyboard.type("nothing like it");

    await dialog.getByText("Searching the runs…").waitFor();
    expect(await dialog.getByRole("option").count()).toBe(0);
    release();
    await dialog.getByText("No run, action or page has these words.").waitFor();
    expect(answered).toContain("nothing like it");
  });

  test("offer what is possible with the open run, and lead to its question", async () => {
    const ended = await visitRun(ids.old, "Done");
    const ofEnded = await openCommands(ended);
    await ofEnded.getByRole("option", { name: "Retry" }).waitFor();
    expect(await ofEnded.getByRole("option", { name: /^(Stop|Pause|Answer)/ }).count()).toBe(0);

    const page = await visitRun(ids.asking, "Needs you");
    await page.keyboard.press("2");
    await page.waitForURL(/tab=changes/);
    const dialog = await openCommands(page);
    await dialog.getByRole("option", { name: "Stop" }).waitFor();
    expect(await dialog.getByRole("option", { name: "Retry" }).count()).toBe(0);
    await page.keyboard.type("answer");
    await page.keyboard.press("Enter");

    await page.waitForURL(/#question-/);
    await page.locator("[data-question=open]").waitFor();
    await page.waitForFunction("document.activeElement.querySelector('[data-question=open]') !== null");
    await page.keyboard.press("2");
    await page.waitForURL(/tab=changes/);
    await page.keyboard.press("a");
    await page.waitForFunction("document.activeElement.querySelector('[data-question=open]') !== null");
  });

  test("share a run of the list that has the focus", async () => {
    const page = await visit("/");
    await page.getByRole("link", { name: "The old one" }).focus();
    await openCommands(page);
    await page.getByRole("group", { name: "“The old one”" }).waitFor();
    await page.keyboard.type("share");
    await page.keyboard.press("Enter");

    await page.getByRole("dialog", { name: "Share “The old one”" }).waitFor();
    await page.getByRole("button", { name: "Create a link" }).click();
    await page.getByLabel("The link").waitFor();
  });

  test("E stops a run at once, and Continue leads to the next message", async () => {
    const page = await visitRun(ids.working, "Working");
    await page.keyboard.press("2");
    await page.waitForURL(/tab=changes/);
    await page.keyboard.press("e");

    await page.locator(".facts", { hasText: "Stopped." }).waitFor();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.waitForFunction("document.activeElement.ariaLabel === 'Message to the agent'");
    expect([await axeFindings(page), harness.complaints]).toEqual([[], []]);
    await page.keyboard.type("say after the stop");
    await page.keyboard.press("Control+Enter");
    await page.locator(".run-head .state", { hasText: "Done" }).waitFor();
    expect(await page.locator(".facts", { hasText: "Stopped." }).count()).toBe(0);
  });
});
