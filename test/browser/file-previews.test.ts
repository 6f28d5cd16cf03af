import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  axeFindings,
  type BrowserHarness,
  reasonToSkipChromium,
  startBrowserHarness,
} from "../support/chromium.ts";
import { waitFor } from "../support/wait-for.ts";

const skipped = await reasonToSkipChromium();

const DOT =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
/** The head of a PNG of 60,000 by 60,000 points. */
const HUGE = Buffer.concat([
  Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"),
  Buffer.from("0000ea600000ea600806000000", "hex"),
]).toString("base64");

describe.skipIf(skipped !== undefined)("previews of files that an agent made", () => {
  let harness: BrowserHarness;
  let context: BrowserContext;
  let runId: unknown;
  const outside: string[] = [];
  const elsewhere = createServer((request, response) => {
    outside.push(request.url ?? "");
    response.end();
  });
  beforeAll(async () => {
    harness = await startBrowserHarness();
    await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40" onload="document.title='taken'"><image href="${url}/svg" width="9" height="9"/><script>document.title="taken"</script></svg>`;
    const html = `<meta http-equiv="refresh" content="0,url=${url}/refresh"><script>top.document.title="taken"</script><h1>A report</h1><img src="${url}/img" onerror="top.document.title='taken'"><form action="${url}/form"><button>Send</button></form><a id="out" href="${url}/link" target="_top">Out</a><iframe src="${url}/frame"></iframe>`;
    const files = {
      "a.png": DOT,
      "huge.png": HUGE,
      "wrong.png": Buffer.from(svg).toString("base64"),
      "drawing.svg": Buffer.from(svg).toString("base64"),
      "report.html": Buffer.from(html).toString("base64"),
      "notes.md": Buffer.from('# Notes <img src=x onerror="document.title=1">').toString("base64"),
    };
    const commands = Object.entries(files).map(
      ([name, data]) => `echo ${data} | base64 -d > artifacts/${name}`,
    );
    const { run_id } = await harness.api("/runs", {
      prompt: `shell mkdir -p artifacts && ${commands.join(" && ")}`,
      title: "Files",
    });
    runId = run_id;
    await waitFor(async () => (await harness.api(`/runs/${runId}`)).state === "SUCCEEDED", {
      what: "the end of the run",
    });
    context = await harness.open({ key: harness.service.apiKey });
  });
  afterAll(async () => {
    await harness.close();
    elsewhere.closeAllConnections();
    await new Promise((resolve) => elsewhere.close(resolve));
  });

  async function open(): Promise<Page> {
    const page = await context.newPage();
    await page.goto(`${harness.service.url}/runs/${runId}?tab=files`);
    await page.getByRole("link", { name: "report.html" }).waitFor();
    return page;
  }

  test("a picture is shown in its size, and Enter enlarges it", async () => {
    const page = await open();
    const picture = page.getByRole("img", { name: /a\.png$/ });
    await picture.waitFor();
    expect(await picture.getAttribute("width")).toBe("1");
    await page
      .getByRole("button", { name: /a\.png$/ })
      .and(page.locator(".enlarge"))
      .press("Enter");
    const dialog = page.getByRole("dialog", { name: /a\.png$/ });
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect([await axeFindings(page), harness.complaints]).toEqual([[], []]);
    await page.close();
  });

  test("a picture that is none, or too large, is not shown", async () => {
    const page = await open();

    await page.getByText("The picture has 60000 × 60000 points").waitFor();
    await page.getByText("The file is no picture that a browser can show.").waitFor();
    expect(await page.locator(".media img").count()).toBe(1);
    await page.close();
  });

  test("nothing in a drawing, a document or Markdown runs, leads away or loads from elsewhere", async () => {
    const page = await open();
    const title = await page.title();
    for (const name of ["drawing.svg", "report.html", "notes.md"]) {
      await page.getByRole("button", { name: new RegExp(`^Preview of .*${name}$`) }).click();
    }
    const drawing = page.getByRole("img", { name: /drawing\.svg$/ });
    await expect.poll(() => drawing.evaluate((image) => Object(image).naturalWidth)).toBe(40);
    await page.locator(".md h1", { hasText: "Notes" }).waitFor();
    const frame = page.frameLocator("iframe.html-preview");
    await frame.getByRole("heading", { name: "A report" }).waitFor();
    await frame.getByRole("button", { name: "Send" }).click();
    await frame.getByRole("link", { name: "Out" }).click();
    await page.getByRole("link", { name: "Conversation" }).click();
    await page.getByRole("heading", { name: "Files", level: 1 }).waitFor();

    expect([outside, await page.title(), new URL(page.url()).origin]).toEqual([
      [],
      title,
      harness.service.url,
    ]);
    await page.close();
  });
});
