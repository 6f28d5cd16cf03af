import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  axeFindings,
  type BrowserHarness,
  reasonToSkipChromium,
  startBrowserHarness,
} from "../support/chromium.ts";
import { GitHttpServer } from "../support/git-http-server.ts";
import { GitRepositories } from "../support/git-repositories.ts";

const skipped = await reasonToSkipChromium();

describe.skipIf(skipped !== undefined)("comments on lines of the changes in a browser", () => {
  let repositories: GitRepositories;
  let gitServer: GitHttpServer;
  let harness: BrowserHarness;
  let runId: string;
  const contexts: BrowserContext[] = [];

  beforeAll(async () => {
    repositories = await GitRepositories.create();
    await repositories.commit("acme/widgets", { "list.txt": "one\ntwo\nthree\n" });
    gitServer = await GitHttpServer.start(repositories.root);
    harness = await startBrowserHarness({ ERRAND_GIT_URL: gitServer.url });
  });
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()));
  });
  afterAll(async () => {
    await harness.close();
    await gitServer.stop();
    await repositories.remove();
  });

  /** The changes of a new run that has replaced the second line of a file by two. */
  async function open(options: BrowserContextOptions = {}): Promise<Page> {
    const prompt = "shell printf 'one\\nTWO\\nand more\\nthree\\n' > list.txt\nsay done";
    const { run_id } = await harness.api("/runs", { prompt, config: { repository: "acme/widgets" } });
    runId = String(run_id);
    const context = await harness.open({ key: harness.service.apiKey, ...options });
    contexts.push(context);
    const page = await context.newPage();
    await openChanges(page);
    return page;
  }

  async function openChanges(page: Page): Promise<void> {
    await page.goto(`${harness.service.url}/runs/${runId}?tab=changes`);
    await page.locator(".diff .added").first().waitFor();
  }

  async function followUps() {
    return (await harness.api(`/runs/${runId}/followups`)).followups as Record<string, unknown>[];
  }

  const focusedRow = "document.activeElement.closest('tr')?.textContent";

  test("by keyboard: lines are commented on, kept on the server, and sent as one follow-up", async () => {
    const page = await open();

    await page.keyboard.press("j");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    const removed = await page.evaluate(focusedRow);
    await page.keyboard.press("c");
    await page.keyboard.type("Why was this removed?");
    await page.keyboard.press("Control+Enter");
    await page.getByText("1 comment", { exact: true }).waitFor();
    await page.locator(".comment-field").waitFor({ state: "detached" });
    const focusedAfter = await page.evaluate(focusedRow);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Shift+ArrowDown");
    await page.keyboard.press("c");
    await page.keyboard.type("say <img src=x onerror=alert(1)> **here**");
    await page.keyboard.press("Control+Enter");
    await page.getByText("2 comments", { exact: true }).waitFor();
    const findings = await axeFindings(page);
    // Another visit, as from another computer, has the same comments.
    await openChanges(page);
    await page.getByText("2 comments", { exact: true }).waitFor();
    await page.keyboard.press("s");
    await page.keyboard.type("say two things");
    await page.keyboard.press("Control+Enter");
    await page.getByText("2 comments sent").waitFor();
    await page.locator(".comments-bar").waitFor({ state: "detached" });

    expect([removed, focusedAfter, findings]).toEqual(["2−two", "2−two", []]);
    const [followUp] = await followUps();
    const place = { repository: "acme/widgets", path: "list.txt" };
    expect(followUp?.comments).toEqual([
      expect.objectContaining({ ...place, side: "left", line: 2, body: "Why was this removed?" }),
      expect.objectContaining({ ...place, side: "right", start_line: 2, line: 3 }),
    ]);
    expect(followUp?.message).toMatch(/^say two things\n\nComments on your changes:/);
    expect(followUp?.message).toContain("@@ -1,2 +1,3 @@\n one\n-two\n+TWO\n+and more\n```");
    expect(harness.complaints).toEqual([]);
  });

  test("the agent reads the comments, and a line that it has changed is shown as outdated", async () => {
    const page = await open();
    const numbers = page.locator(".diff .added td.no:nth-child(2)");
    await numbers.first().click();
    await page
      .getByLabel("Comment on line 2")
      .fill("shell printf 'one\\nother\\nand more\\nthree\\n' > list.txt");
    await page.getByRole("button", { name: "Keep comment" }).click();
    await page.locator(".comment-field").waitFor({ state: "detached" });
    await numbers.nth(1).click();
    await page.getByLabel("Comment on line 3").fill("Keep this one.");
    await page.getByRole("button", { name: "Keep comment" }).click();
    await page.getByText("2 comments", { exact: true }).waitFor();

    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByText("2 comments sent").waitFor();

    await page.getByRole("button", { name: "Show the new version" }).click();
    const outdated = page.locator(".comment", { hasText: "Outdated" });
    await outdated.waitFor();
    expect(await outdated.textContent()).toContain("+TWO");
    expect(await outdated.textContent()).toContain("read by the agent");
    expect(await page.locator(".diff .beneath").allTextContents()).toEqual([
      expect.stringContaining("Keep this one."),
    ]);
  });

  test("two comments are written at a time, and keeping one leaves the other as it is", async () => {
    const page = await open();
    const numbers = page.locator(".diff .added td.no:nth-child(2)");
    await numbers.first().click();
    await page.getByLabel("Comment on line 2").fill("First words");
    await numbers.nth(1).click();
    await page.getByLabel("Comment on line 3").fill("Other words");
    await page.locator(".comment-field", { hasText: "line 2" }).getByRole("button", { name: "Keep" }).click();
    await page.getByText("1 comment", { exact: true }).waitFor();
    await page.getByLabel("Comment on line 3").press("Control+Enter");
    await page.getByText("2 comments", { exact: true }).waitFor();

    await page.locator(".comment-field").waitFor({ state: "detached" });
    expect(await page.locator(".comment").allTextContents()).toEqual([
      expect.stringContaining("First words"),
      expect.stringContaining("Other words"),
    ]);
  });

  test("a kept comment is changed and deleted", async () => {
    const page = await open();
    await page.locator(".diff .added td.no:nth-child(2)").first().click();
    await page.getByLabel("Comment on line 2").fill("First words");
    await page.getByRole("button", { name: "Keep comment" }).click();

    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Comment on line 2").fill("Other words");
    await page.getByRole("button", { name: "Keep comment" }).click();
    await page.locator(".comment", { hasText: "Other words" }).waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.locator(".comment").waitFor({ state: "detached" });

    expect((await harness.api(`/runs/${runId}/draft-comments`)).draft_comments).toEqual([]);
    expect(await page.locator(".comments-bar").count()).toBe(0);
  });

  test("on a phone a comment fits the window, and no page is left by its keys", async () => {
    const page = await open({ viewport: { width: 390, height: 800 } });
    await page.locator(".diff .added td.no:nth-child(2)").first().click();
    await page.getByLabel("Comment on line 2").fill("Words that are kept");
    await page.getByRole("button", { name: "Keep comment" }).click();
    await page.getByText("1 comment", { exact: true }).waitFor();

    expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);
    expect(await axeFindings(page)).toEqual([]);
    expect(new URL(page.url()).pathname).toBe(`/runs/${runId}`);
  });
});
