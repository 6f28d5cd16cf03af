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
import { waitFor } from "../support/wait-for.ts";

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
    await repositories.commit("acme/widgets", {
      "README.md": "# Widgets\n",
      "list.txt": `${lines}\n`,
      "long.js": `function ${"aVeryLongName".repeat(6)}() {\n${"  one();\n".repeat(20)}  last();\n}\n`,
    });
    gitServer = await GitHttpServer.start(repositories.root);
    harness = await startBrowserHarness({ ERRAND_GIT_URL: gitServer.url });
    const { run_id } = await harness.api("/runs", {
      prompt:
        "write list.txt only this\nwrite new.txt hello\nshell head -c 5000 /dev/zero > zero.bin\nsay done",
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

  test("how many files are viewed is said, in each tab of the browser", async () => {
    const page = await open();
    const other = await page.context().newPage();
    await openChanges(other);
    await page.getByText("0 of 3 viewed").waitFor();

    await page.getByRole("region", { name: "new.txt" }).getByLabel("Viewed").check();

    await page.getByText("1 of 3 viewed").waitFor();
    await other.getByText("1 of 3 viewed").waitFor();
    expect(await other.getByRole("region", { name: "new.txt" }).getByLabel("Viewed").isChecked()).toBe(true);
  });

  test("a binary file has its size in place of counted lines", async () => {
    const page = await open();
    const file = page.getByRole("region", { name: "zero.bin" });

    await file.getByText("A binary file of 5 kB.").waitFor();

    expect(await file.locator(".counts").allTextContents()).toEqual(["5 kB"]);
    expect(await page.locator(".changed-files a", { hasText: "zero.bin" }).textContent()).toContain("5 kB");
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

  test("the list of runs says what a run has changed, below the names of the columns", async () => {
    const page = await open();

    await page.goto(harness.service.url);
    const row = page.locator(".run-row").first();
    await row.getByText("3 files changed, +2 −20").waitFor();

    expect(await page.locator(".run-heads > :visible").allTextContents()).toEqual([
      ...["State", "Run", "Repository", "Asked by", "PR", "Cost", "Time"],
    ]);
    const lefts = async (around: string) =>
      page
        .locator(`${around} > *`)
        .evaluateAll((cells) => cells.map((cell) => Math.round(cell.getBoundingClientRect().left)));
    expect(await lefts(".run-heads")).toEqual((await lefts(".run-row")).slice(0, 7));
    const cut = await page
      .locator(".run-state *, .run-who .one, .run-repo .one")
      .evaluateAll((parts) => parts.filter((part) => part.scrollWidth > part.clientWidth + 1).length);
    expect(cut).toBe(0);
  });

  const LONG = `${"a-long-name-".repeat(14)}.test.ts`;
  const NAMES = [
    `src/${"deep/".repeat(30)}${LONG}`,
    LONG,
    "図.md",
    "a name with spaces.txt",
    'quote".txt',
    "short.txt",
  ];

  test.each([1280, 390])(
    "the counts of each file stay beside its name in a window of %i px",
    async (width) => {
      const page = await openNames({ viewport: { width, height: 900 } });

      const hidden = await page.evaluate(`[...document.querySelectorAll(".counts, .file-head .check")]
      .filter((each) => each.checkVisibility())
      .filter((each) => {
        const { left, right, width } = each.getBoundingClientRect();
        const around = each.parentElement.closest(".changed-files, .changed-file, .row, .changes-bar, nav, h2");
        const box = around.getBoundingClientRect();
        return width < 10 || left < box.left - 1 || right > box.right + 1 || right > innerWidth;
      })
      .map((each) => each.parentElement.textContent)`);

      expect(hidden).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);
      expect(await axeFindings(page)).toEqual([]);
    },
  );

  test("names are shown as they are, and the end of a long name is readable", async () => {
    const page = await openNames();

    for (const name of NAMES) {
      await page.getByRole("heading", { name, level: 2, exact: true }).waitFor();
    }
    const end = await page.locator(".file-head .path-name > :nth-child(2)").first().boundingBox();
    expect(end?.width).toBeGreaterThan(80);
  });

  test("a link to a file opens at the file", async () => {
    const page = await openNames();
    const link = page.locator(".changed-files a", { hasText: "図.md" });
    await page.goto(
      `${harness.service.url}/runs/${namesRunId}?tab=changes${await link.getAttribute("href")}`,
    );
    await page.reload();

    const file = page.getByRole("region", { name: "図.md" });
    await file.waitFor();
    const isInView = async () => {
      const { y = 0 } = (await file.boundingBox()) ?? {};
      return y > 0 && y < 500;
    };
    await expect.poll(isInView).toBe(true);
  });

  let namesRunId: unknown;

  /** The changes of a run that made files with unusual names. */
  async function openNames(options: BrowserContextOptions = {}): Promise<Page> {
    const script = NAMES.map((name) => {
      const quoted = `'${name.replaceAll("'", `'\\''`)}'`;
      return `shell mkdir -p "$(dirname ${quoted})" && seq 60 > ${quoted}`;
    });
    namesRunId ??= (
      await harness.api("/runs", { prompt: script.join("\n"), config: { repository: "acme/widgets" } })
    ).run_id;
    const context = await harness.open({ key: harness.service.apiKey, ...options });
    contexts.push(context);
    const page = await context.newPage();
    await page.goto(`${harness.service.url}/runs/${namesRunId}?tab=changes`);
    await page.getByRole("heading", { name: "short.txt", level: 2 }).waitFor();
    return page;
  }

  test("the long head of a hunk is broken, and does not make the box of its file scroll", async () => {
    const { run_id } = await harness.api("/runs", {
      prompt: "shell sed -i s/last/final/ long.js\nsay done",
      config: { repository: "acme/widgets" },
    });
    const page = await open({ viewport: { width: 390, height: 800 } });
    await page.goto(`${harness.service.url}/runs/${run_id}?tab=changes`);
    await page.locator(".diff .hunk", { hasText: "aVeryLongName" }).waitFor();

    const widths =
      "Array.from(document.querySelectorAll('.diff'), (box) => box.scrollWidth - box.clientWidth)";
    expect(await page.evaluate(widths)).toEqual([0]);
  });

  test("the changes of one turn are shown alone, and what is not stored is said", async () => {
    const { run_id } = await harness.api("/runs", {
      prompt: "write list.txt first\nwrite one.txt 1",
      config: { repository: "acme/widgets" },
    });
    const isDone = async () => (await harness.api(`/runs/${run_id}`)).state === "SUCCEEDED";
    await waitFor(isDone, { what: "the end of turn 1" });
    for (const message of ["write two.txt 2", "say nothing has changed"]) {
      await harness.api(`/runs/${run_id}/followups`, { message });
      await waitFor(isDone, { what: "the end of the next turn" });
    }
    const page = await open();
    await page.goto(`${harness.service.url}/runs/${run_id}?tab=changes`);
    const files = page.locator(".changed-file h2");
    const turn = page.getByLabel("Changes of");
    await expect.poll(() => files.allTextContents()).toEqual(["list.txt", "one.txt", "two.txt"]);

    await turn.focus();
    await turn.selectOption("turn 2");
    await expect.poll(() => files.allTextContents()).toEqual(["two.txt"]);
    await page.reload();
    await expect.poll(() => files.allTextContents()).toEqual(["two.txt"]);
    const findings = await axeFindings(page);
    await turn.selectOption("turn 3");
    await page.getByText("Turn 3 has not ended or has changed no repository").waitFor();
    await page.route("**/download", (route) => route.fulfill({ status: 404, json: {} }));
    await turn.selectOption("turn 1");

    await page.getByText("These changes are no longer stored.").waitFor();
    expect(findings).toEqual([]);
  });
});
