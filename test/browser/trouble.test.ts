import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type BrowserHarness, reasonToSkipChromium, startBrowserHarness } from "../support/chromium.ts";
import { waitFor } from "../support/wait-for.ts";

const skipped = await reasonToSkipChromium();

describe.skipIf(skipped !== undefined)("a page that lost what it needs", () => {
  let harness: BrowserHarness;
  let context: BrowserContext;
  let runId: string;
  let page: Page;
  beforeAll(async () => {
    harness = await startBrowserHarness();
  });
  beforeEach(async () => {
    context = await harness.open({ key: harness.service.apiKey });
    runId = String((await harness.api("/runs", { prompt: "say first" })).run_id);
    await waitFor(async () => (await harness.api(`/runs/${runId}`)).state === "SUCCEEDED", {
      what: "the end of the run",
    });
    page = await context.newPage();
    await page.goto(`${harness.service.url}/runs/${runId}`);
    await page.getByText("Done", { exact: true }).first().waitFor();
    return () => context.close();
  });
  afterAll(() => harness.close());

  const field = () => page.getByLabel("Message to the agent");

  async function followUps(): Promise<readonly string[]> {
    const { followups } = await harness.api(`/runs/${runId}/followups`);
    return (followups as { message: string }[]).map(({ message }) => message);
  }

  async function signInIn(other: Page): Promise<void> {
    await other.fill("#key", harness.service.apiKey);
    await other.click("button[type=submit]");
  }

  test("an ended sign-in is named, the draft stays, and signing in leads back to it", async () => {
    await field().fill("a long thought");
    await context.clearCookies();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("Your sign-in has ended").first().waitFor();

    expect(new URL(page.url()).pathname).toBe(`/runs/${runId}`);
    expect(await field().inputValue()).toBe("a long thought");
    expect(await page.getByText(/bearer|API key/i).count()).toBe(0);
    const [signIn] = await Promise.all([
      context.waitForEvent("page"),
      page.getByRole("link", { name: "Sign in again" }).click(),
    ]);
    await signInIn(signIn);
    await signIn.waitForURL(`${harness.service.url}/runs/${runId}`);
    expect(await signIn.getByLabel("Message to the agent").inputValue()).toBe("a long thought");

    await page.bringToFront();
    await page.getByRole("button", { name: "Continue" }).click();

    await expect.poll(followUps).toEqual(["a long thought"]);
    await page.getByText("Your sign-in has ended").first().waitFor({ state: "detached" });
  });

  test("a link to an entry survives signing in", async () => {
    const stranger = await harness.open();
    const other = await stranger.newPage();
    await other.goto(`${harness.service.url}/runs/${runId}#prompt`);
    await signInIn(other);

    await other.locator(".entry-row.linked").waitFor();
    expect(new URL(other.url()).hash).toBe("#prompt");
    await stranger.close();
  });

  test("a message that is sent offline stays, also after the page was closed, and arrives once", async () => {
    await field().fill("sent in a tunnel");
    await context.setOffline(true);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("The server does not answer").waitFor();
    expect(await field().inputValue()).toBe("sent in a tunnel");
    await page.close();
    await context.setOffline(false);

    page = await context.newPage();
    await page.goto(`${harness.service.url}/runs/${runId}`);
    expect(await field().inputValue()).toBe("sent in a tunnel");
    await page.getByRole("button", { name: "Continue" }).click();

    await expect.poll(() => field().inputValue()).toBe("");
    expect(await followUps()).toEqual(["sent in a tunnel"]);
  });

  test.each([
    ["and the run has ended again", "say it once", "Continue"],
    ["and the run works on it", "sleep 600", "Send"],
  ])("a message whose answer is lost %s is not taken twice", async (_when, message, again) => {
    await field().fill(message);
    await page.route("**/followups", async (route) => {
      if (route.request().method() === "POST") {
        await route.fetch();
        await route.abort();
      } else {
        await route.continue();
      }
    });
    await page.getByRole("button", { name: "Continue" }).click();
    await expect.poll(followUps).toEqual([message]);
    const state = again === "Send" ? "INPROGRESS" : "SUCCEEDED";
    await waitFor(async () => (await harness.api(`/runs/${runId}`)).state === state, {
      what: `the state ${state}`,
    });
    await page.reload();
    expect(await field().inputValue()).toBe(message);
    await page.unroute("**/followups");

    await page.getByRole("button", { name: again }).click();

    await expect.poll(() => field().inputValue()).toBe("");
    expect(await followUps()).toEqual([message]);
    await harness.api("/runs/cancel", { run_ids: [runId] });
  });

  test("a body that a proxy refuses is named as such, and the draft stays", async () => {
    const html = "<html><head><title>413 Request Entity Too Large</title></head></html>";
    await page.route("**/followups", (route) =>
      route.request().method() === "POST"
        ? route.fulfill({ status: 413, contentType: "text/html", body: html })
        : route.continue(),
    );
    await field().fill("a text that is too long for the proxy");
    await page.getByRole("button", { name: "Continue" }).click();

    await page.getByText("A proxy before the server refuses bodies of this size").first().waitFor();
    await page.getByText("let the proxy pass bodies of 30 MiB").first().waitFor();
    expect(await field().inputValue()).toBe("a text that is too long for the proxy");
  });

  test("a server that does not answer is named until it is back", async () => {
    await page.goto(`${harness.service.url}/system`);
    await page.getByRole("heading", { name: "System" }).waitFor();
    await harness.service.end("SIGTERM");
    await page.getByText("The server does not answer").waitFor();

    await harness.restart();

    await page.getByText("The server does not answer").waitFor({ state: "detached" });
    await page.getByText("has a new version").waitFor({ state: "detached" });
  });

  test("a new version of the pages is offered after the server was started again", async () => {
    await page.goto(`${harness.service.url}/system`);
    await page.getByRole("heading", { name: "System" }).waitFor();
    await page.route("**/system", async (route) => {
      const response = await route.fetch();
      const html = (await response.text()).replaceAll(/\/app\/index-\w+/g, "/app/index-another");
      await route.fulfill({ response, body: html });
    });
    await harness.restart();

    await page.getByText("The server has a new version of this page").waitFor();
    await page.unroute("**/system");
    await page.getByRole("button", { name: "Reload" }).click();
    await page.getByRole("heading", { name: "System" }).waitFor();
    expect(await page.getByText("has a new version").count()).toBe(0);
  });

  test("a part that the server no longer has loads the page again, once", async () => {
    let loads = 0;
    page.on("domcontentloaded", () => {
      loads += 1;
    });
    await page.route("**/app/details-tab-*.js", (route) =>
      loads === 0 ? route.fulfill({ status: 404, body: "" }) : route.continue(),
    );
    const tab = page
      .getByRole("navigation", { name: "Run", exact: true })
      .getByRole("link", { name: /Details/ });
    await tab.click();
    await page.locator(".details").waitFor();
    expect(loads).toBe(1);

    await page.route("**/app/files-tab-*", (route) => route.fulfill({ status: 404, body: "" }));
    await page
      .getByRole("navigation", { name: "Run", exact: true })
      .getByRole("link", { name: /Files/ })
      .click();
    await page.getByText("A part of this page could not be loaded.").waitFor();
    expect(loads).toBe(2);
    expect(await page.getByRole("link", { name: "All" }).first().isVisible()).toBe(true);

    await page.unroute("**/app/files-tab-*");
    await page.getByRole("button", { name: "Load the page again" }).click();
    await page.getByText("This run has made no files so far").waitFor();
  });
});
