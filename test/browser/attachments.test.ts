import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  axeFindings,
  type BrowserHarness,
  reasonToSkipChromium,
  startBrowserHarness,
} from "../support/chromium.ts";

const skipped = await reasonToSkipChromium();

/** A picture of one point. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describe.skipIf(skipped !== undefined)("files with a message in a browser", () => {
  let harness: BrowserHarness;
  let context: BrowserContext;
  beforeAll(async () => {
    harness = await startBrowserHarness({ ERRAND_MAX_ATTACHMENT_MIB: "1", ERRAND_MAX_ATTACHMENTS_MIB: "2" });
    context = await harness.open({ key: harness.service.apiKey });
  });
  afterEach(async () => {
    await Promise.all(context.pages().map((page) => page.close()));
  });
  afterAll(() => harness.close());

  async function openEndedRun(): Promise<Page> {
    const { run_id } = await harness.api("/runs", { prompt: "say ready" });
    const page = await context.newPage();
    // The browser asks before it closes a page with files.
    page.on("dialog", (dialog) => void dialog.accept());
    await page.goto(`${harness.service.url}/runs/${run_id}`);
    await page.locator(".run-head .state", { hasText: "Done" }).waitFor();
    return page;
  }

  /** What a browser does when a person pastes, or drops, a file. */
  async function give(page: Page, selector: string, event: "paste" | "drop", name: string, type: string) {
    await page.locator(selector).waitFor();
    await page.evaluate(`
      const bytes = Uint8Array.from(atob("${PNG}"), (letter) => letter.charCodeAt(0));
      const transfer = new DataTransfer();
      transfer.items.add(new File([bytes], "${name}", { type: "${type}" }));
      const init = { bubbles: true, cancelable: true, clipboardData: transfer, dataTransfer: transfer };
      const event = "${event}" === "paste" ? new ClipboardEvent("paste", init) : new DragEvent("drop", init);
      document.querySelector("${selector}").dispatchEvent(event);
      0`);
  }

  const chips = (page: Page) => page.locator(".attached .chip .one").allTextContents();
  const field = (page: Page) => page.getByLabel("Message to the agent");

  async function choose(page: Page, files: readonly (readonly [name: string, bytes: number])[]) {
    const input = page.locator(".attach input");
    await input.setInputFiles(
      files.map(([name, size]) => ({ name, mimeType: "text/plain", buffer: Buffer.alloc(size, "a") })),
    );
  }

  test("are pasted, dropped and chosen, and the agent gets them without a word", async () => {
    const page = await openEndedRun();
    await give(page, ".composer textarea", "paste", "shot.png", "image/png");
    await expect.poll(() => chips(page)).toEqual(["shot.png"]);
    await give(page, ".composer .box", "drop", "drawn.png", "image/png");
    await expect.poll(() => chips(page)).toEqual(["shot.png", "drawn.png"]);
    await choose(page, [["notes.txt", 2_000]]);
    await page.locator(".chip", { hasText: "notes.txt" }).getByText("2 kB").waitFor();
    // They stay while another tab of the run is shown.
    await page.getByRole("link", { name: "Events" }).click();
    await field(page).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Conversation" }).click();
    await expect.poll(() => chips(page)).toEqual(["shot.png", "drawn.png", "notes.txt"]);
    await page.getByRole("button", { name: "Remove drawn.png" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => chips(page)).toEqual(["shot.png", "notes.txt"]);
    await page.waitForFunction("document.activeElement.ariaLabel === 'Remove shot.png'");
    expect([await axeFindings(page), harness.complaints]).toEqual([[], []]);

    await field(page).focus();
    await page.keyboard.press("Control+Enter");

    const given = page.locator(".given-files li");
    await given.filter({ hasText: "notes.txt" }).waitFor();
    await given.filter({ hasText: "image-1.png" }).waitFor();
    await expect.poll(() => chips(page)).toEqual([]);
    await page.locator(".run-head .state", { hasText: "Done" }).waitFor();
  });

  test("that are too large, too much or unreadable are said before sending, and nothing is lost", async () => {
    const page = await openEndedRun();
    await field(page).fill("say it again");
    await choose(page, [["large.txt", 1_100_000]]);
    await page
      .getByText("“large.txt” was not attached: it has 1.1 MB, and a file may have 1.0 MB.")
      .waitFor();
    await choose(page, [
      ["one.txt", 1_000_000],
      ["two.txt", 1_000_000],
      ["three.txt", 1_000_000],
    ]);
    await page.getByText("“three.txt” was not attached").waitFor();
    expect([await chips(page), await field(page).inputValue()]).toEqual([
      ["one.txt", "two.txt"],
      "say it again",
    ]);
    expect(await axeFindings(page)).toEqual([]);

    // No answer: the same message with the same files is sent again, and arrives once.
    const keys: (string | undefined)[] = [];
    await page.route("**/followups", async (route) => {
      if (route.request().method() !== "POST") {
        return route.fallback();
      }
      keys.push(route.request().headers()["idempotency-key"]);
      await route.abort();
    });
    await page.getByRole("button", { name: "Continue" }).click();
    await page.locator(".composer .note.fail").waitFor();
    expect([await chips(page), await field(page).inputValue()]).toEqual([
      ["one.txt", "two.txt"],
      "say it again",
    ]);
    await page.unroute("**/followups");
    const sent = page.waitForRequest((each) => each.method() === "POST" && each.url().endsWith("/followups"));
    await page.getByRole("button", { name: "Continue" }).click();

    expect((await sent).headers()["idempotency-key"]).toBe(keys[0]);
    await page.locator(".given-files li", { hasText: "two.txt" }).waitFor();
    await expect.poll(() => chips(page)).toEqual([]);
  });

  test("that the server refuses have the reason beside them, on the page New run too", async () => {
    const page = await context.newPage();
    page.on("dialog", (dialog) => void dialog.accept());
    await page.goto(`${harness.service.url}/new`);
    await page.getByLabel("What should be done?").fill("say it");
    await give(page, "#prompt", "paste", "fake.webp", "image/webp");
    await expect.poll(() => chips(page)).toEqual(["fake.webp"]);
    await page.getByRole("button", { name: "Start run" }).click();

    await page.getByText("“fake.webp”: Must be an image of the type image/webp.").waitFor();
    expect([await chips(page), await axeFindings(page)]).toEqual([["fake.webp"], []]);
    await page.getByRole("button", { name: "Remove fake.webp" }).click();
    await give(page, "#prompt", "paste", "real.png", "image/png");
    await expect.poll(() => chips(page)).toEqual(["real.png"]);
    await page.getByRole("button", { name: "Start run" }).click();
    await page.locator(".given-files li", { hasText: "image-1.png" }).waitFor();
  });
});
