import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  axeFindings,
  type BrowserHarness,
  reasonToSkipChromium,
  startBrowserHarness,
} from "../support/chromium.ts";

const skipped = await reasonToSkipChromium();

/** Collects the shifts of the layout that no input caused. */
const COUNT_SHIFTS = `
  globalThis.shift = 0;
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, value } of list.getEntries()) globalThis.shift += hadRecentInput ? 0 : value;
  }).observe({ type: "layout-shift", buffered: true })`;

describe.skipIf(skipped !== undefined)(
  "filters, order and selection of the list of runs in a browser",
  () => {
    let harness: BrowserHarness;
    let context: BrowserContext;
    const uids = { agent: "", environment: "", person: "" };
    beforeAll(async () => {
      harness = await startBrowserHarness();
      context = await harness.open({ key: harness.service.apiKey });
      await context.addInitScript(COUNT_SHIFTS);
      const github = [{ owner: "acme", repo: "web" }];
      await harness.api("/environments", { config: { name: "With a repository", github_repos: github } });
      uids.environment = String((await harness.api("/environments", { config: { name: "node24" } })).uid);
      uids.agent = String((await harness.api("/identities", { name: "Reviewer" })).uid);
      uids.person = String((await harness.api("/principals", { type: "user", display_name: "Ann Lee" })).uid);
      await create("An ended run", "say done");
      await create("B in an environment", "hang", { config: { environment_id: uids.environment } });
      await create("A of an agent", "hang", { agent_identity_uid: uids.agent });
      await create("C with a model", "hang", { config: { model_id: "demo" } });
    });
    afterAll(() => harness.close());

    async function create(title: string, prompt: string, more: object = {}): Promise<void> {
      await harness.api("/runs", { prompt, title, ...more });
    }

    async function open(path: string, options: object = {}): Promise<Page> {
      const context = await harness.open({ key: harness.service.apiKey, ...options });
      await context.addInitScript(COUNT_SHIFTS);
      const page = await context.newPage();
      await page.goto(harness.service.url + path);
      return page;
    }

    function row(page: Page, title: string) {
      return page.locator(".run-row", { has: page.getByRole("link", { name: title, exact: true }) });
    }

    const titles = (page: Page) => page.locator(".run-title").allTextContents();

    async function choose(page: Page, filter: string, value: string): Promise<void> {
      await page.getByRole("button", { name: filter, exact: true }).click();
      await page.getByRole("option", { name: value, exact: true }).click();
    }

    test("nothing moves while the list is loaded, on a desk and on a phone", async () => {
      const shifts: number[] = [];
      for (const size of [
        { width: 390, height: 844 },
        { width: 1280, height: 860 },
      ]) {
        const page = await open("/", size);
        await row(page, "An ended run").getByText("Done").waitFor();
        await row(page, "B in an environment").getByText("node24").waitFor();
        shifts.push(Number(await page.evaluate("globalThis.shift")));
        await page.close();
      }

      expect(Math.max(...shifts)).toBeLessThan(0.02);
    });

    test("each filter stands in the address and in the request", async () => {
      const page = await open("/");
      const filters: readonly (readonly [string, string, string, string, string, readonly string[]])[] = [
        ["Person", "Ann Lee", "person", "creator", uids.person, []],
        ["Repository", "acme/web", "repository", "repository", "acme/web", []],
        ["Environment", "node24", "environment", "environment_id", uids.environment, ["B in an environment"]],
        ["Agent", "Reviewer", "agent", "executor", uids.agent, ["A of an agent"]],
        ["Model", "demo", "model", "model_id", "demo", ["C with a model"]],
      ];
      for (const [name, value, key, member, id, found] of filters) {
        await row(page, "An ended run").waitFor();
        if (name === "Environment") {
          await page.getByRole("button", { name: "More filters" }).click();
        }
        const request = page.waitForRequest((each) => new URL(each.url()).searchParams.get(member) === id);
        await choose(page, name, value);

        await request;
        await row(page, "An ended run").waitFor({ state: "detached" });
        await expect.poll(() => titles(page)).toEqual(found);
        expect(new URL(page.url()).searchParams.get(key)).toBe(id);
        await page.getByRole("button", { name: `Remove the filter ${name}` }).click();
      }
      await page.goto(`${harness.service.url}/?agent=${uids.agent}`);
      await page.getByRole("button", { name: "Agent Reviewer" }).waitFor();
      await row(page, "A of an agent").waitFor();
      expect([await titles(page), await axeFindings(page)]).toEqual([["A of an agent"], []]);
      await page.close();
    });

    test("a filter is opened, closed and chosen by keyboard, also before its menu is loaded", async () => {
      const page = await open("/?view=running");
      const button = page.getByRole("button", { name: "Sort" });
      const isFocused = () => page.evaluate('document.activeElement?.textContent === "Sort"');

      for (const key of ["ArrowDown", "Enter"]) {
        await button.focus();
        await page.keyboard.press(key);
        await page.getByRole("option", { name: "Title" }).waitFor();
        await page.keyboard.press("Escape");
        await page.getByRole("listbox").waitFor({ state: "detached" });
        await expect.poll(isFocused).toBe(true);
      }
      await page.keyboard.press("ArrowDown");
      await page.getByRole("option", { name: "Title" }).waitFor();
      await page.keyboard.type("Ti");
      await page.keyboard.press("Enter");

      await page.waitForURL(/sort=title/);
      await page.close();
    });

    test("the order stands in the address, and other orders do not group by day", async () => {
      const page = await open("/?view=running");
      await row(page, "C with a model").waitFor();
      await choose(page, "Sort", "Title");
      await page.waitForURL(/sort=title/);

      await expect
        .poll(() => titles(page))
        .toEqual(["A of an agent", "B in an environment", "C with a model"]);
      await page.goto(`${harness.service.url}/?sort=oldest`);
      await page.getByRole("heading", { name: "Ended", exact: true }).waitFor();
      await page.close();
    });

    test("runs are selected and stopped by keyboard, and the list says which were not", async () => {
      await harness.api("/policies", {
        ...{ name: "Keep", priority: 1, effect: "deny" },
        match: { actions: ["cancel"], environments: [uids.environment] },
      });
      const page = await open("/?view=running&sort=title");
      await row(page, "C with a model").waitFor();

      await page.keyboard.press("j");
      await page.keyboard.press("x");
      await page.getByText("1 run selected").waitFor();
      await page.keyboard.press("j");
      await page.keyboard.press("j");
      await page.keyboard.press("Shift+X");
      await page.getByText("3 runs selected").waitFor();
      expect(await axeFindings(page)).toEqual([]);
      await page.keyboard.press("e");
      const dialog = page.getByRole("alertdialog", { name: "Stop 3 runs?" });
      await dialog.waitFor();
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Stop 3 runs" }).press("Enter");
      await dialog.getByRole("button", { name: "Stop 3 runs" }).press("Enter");

      await page.getByText("2 runs stopped.").waitFor();
      await page
        .getByText("“B in an environment” was not stopped: a policy does not let you stop it.")
        .waitFor();
      await expect.poll(() => titles(page)).toEqual(["B in an environment"]);
      await page.close();
    });

    test("a run that has ended, and a list of a member who may only read, offer no selection", async () => {
      const { key } = await harness.api("/keys", {
        ...{ name: "Reader", scopes: ["runs:read"], principal_uid: uids.person },
      });
      const page = await open("/");
      await row(page, "B in an environment").waitFor();
      const boxes = await page.getByRole("checkbox").count();
      await page.close();
      const readers = await harness.open({ key: String(key) });
      const reader = await readers.newPage();
      await reader.goto(`${harness.service.url}/`);
      await row(reader, "B in an environment").waitFor();

      expect([boxes, await reader.getByRole("checkbox").count()]).toEqual([1, 0]);
      expect(harness.complaints).toEqual([]);
      await readers.close();
    });
  },
);
