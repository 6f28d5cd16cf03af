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

describe.skipIf(skipped !== undefined)("the changes of a run in a browser", () => {
  let repositories: GitRepositories;
  let gitServer: GitHttpServer;
  let harness: BrowserHarness;
  let runId: string;
  const contexts: BrowserContext[] = [];

  beforeAll(async () => {
    repositories = await GitRepositories.create();
    const lines = Array.from({ length: 20 }, (_, line) => `line ${line}`).join("\n");
    await repositories.commit("acme/widgets", { "README.md": "# Widgets\n", "list.txt": `${lines}\n` });
    gitServer = await GitHttpServer.start(repositories.root);
    harness = await startBrowserHarness({ ERRAND_GIT_URL: gitServer.url });
    const { run_id } = await harness.api("/runs", {
      prompt: "write list.txt only this\nwrite new.txt hello\nsay done",
      config: { repository: "acme/widgets" },
    });
    runId = String(run_id);
  });
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()));
  });
  afterAll(async () => {
    await harness.close();
    await gitServer.stop();
    await repositories.remove();
  });

  async function open(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await harness.open({ key: harness.service.apiKey, ...options });
    contexts.push(context);
    const page = await context.newPage();
    await openChanges(page);
    return page;
  }

  async function openChanges(page: Page): Promise<void> {
    await page.goto(`${harness.service.url}/runs/${runId}?tab=changes`);
    await page.getByRole("heading", { name: "list.txt", level: 2 }).waitFor();
  }

  const focused = "document.activeElement.textContent";

  test("two columns are chosen by a button and a key, and the choice stays after a reload", async () => {
    const page = await open();
    const split = page.getByRole("button", { name: "Split" });

    await split.click();
    const columns = await page.locator(".changed-file .hunk + tr").first().locator("td").count();
    await openChanges(page);
    const isKept = await split.getAttribute("aria-pressed");
    const findings = await axeFindings(page);
    await page.keyboard.press("u");

    expect([columns, isKept, findings]).toEqual([6, "true", []]);
    expect(await split.getAttribute("aria-pressed")).toBe("false");
  });

  test("a phone shows one column and no choice, although two columns were chosen", async () => {
    const page = await open({ viewport: { width: 390, height: 800 } });
    await page.evaluate("localStorage.setItem('errand.diff-layout', 'split')");
    await openChanges(page);

    expect(await page.getByRole("button", { name: "Split" }).count()).toBe(0);
    expect(await page.locator(".diff.split").count()).toBe(0);
    expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);
  });

  test("keys go to the next and previous file and hunk, and mark a file as viewed", async () => {
    const page = await open();

    const places: unknown[] = [];
    for (const key of ["j", "n", "j", "k"]) {
      await page.keyboard.press(key);
      places.push(await page.evaluate(focused));
    }
    await page.keyboard.press("v");

    expect(places).toEqual([
      expect.stringContaining("list.txt"),
      expect.stringMatching(/^@@ /),
      expect.stringContaining("new.txt"),
      expect.stringContaining("list.txt"),
    ]);
    expect(await page.locator(".changed-file.viewed h2").allTextContents()).toEqual(["list.txt"]);
  });

  test("a viewed file stays viewed and folded after a reload", async () => {
    const page = await open();

    await page.getByRole("region", { name: "new.txt" }).getByLabel("Viewed").check();
    await openChanges(page);

    const file = page.getByRole("region", { name: "new.txt" });
    expect(await file.getByLabel("Viewed").isChecked()).toBe(true);
    expect(await file.locator(".diff").count()).toBe(0);
  });

  test("a guest of a share link sees the changes and gets the files of the run, without signing in", async () => {
    const { url } = await harness.api(`/runs/${runId}/share-links`, {});
    const { pathname, search } = new URL(String(url));
    const context = await harness.open();
    contexts.push(context);
    const page = await context.newPage();

    await page.goto(`${harness.service.url}${pathname}${search}`);
    await page.getByRole("link", { name: /^Changes/ }).click();
    await page.getByRole("heading", { name: "new.txt", level: 2 }).waitFor();

    expect(await page.getByText("hello", { exact: true }).count()).toBeGreaterThan(0);
    expect(harness.complaints).toEqual([]);
  });
});
