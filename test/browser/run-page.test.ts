import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  axeFindings,
  type BrowserHarness,
  reasonToSkipChromium,
  startBrowserHarness,
} from "../support/chromium.ts";
import { waitFor } from "../support/wait-for.ts";

const skipped = await reasonToSkipChromium();

const FIRST_VIEW_MAX_KB = 250;

/** What an agent could print to take over the page of its reader. */
const HOSTILE = [
  "say <img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script><style>body{display:none}</style>",
  "say [a link](javascript:document.title='taken') and ![a picture](https://203.0.113.9/track.png) <svg onload=\"document.title='taken'\">",
  "say \u202Egnp.exe is reversed <iframe src=//203.0.113.9></iframe>",
  `say ${"long".repeat(20_000)}`,
  "shell printf '\\033[31mred\\033[0m \\033]8;;javascript:alert(1)\\033\\\\link\\033]8;;\\033\\\\ <b>not bold</b>'",
  "write hostile.html <script>document.title='taken'</script>",
].join("\n");

describe.skipIf(skipped !== undefined)("the page of a run in a browser", () => {
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

  async function openRun(prompt: string, more: object = {}, viewer = context): Promise<Page> {
    const { run_id } = await harness.api("/runs", { prompt, ...more });
    const page = await viewer.newPage();
    await page.goto(`${harness.service.url}/runs/${run_id}`);
    return page;
  }

  function conversation(page: Page) {
    return page.getByRole("region", { name: "Conversation" });
  }

  test("a live run is watched to its end and continued with a message", async () => {
    const page = await openRun("say first words\nsleep 1\nsay last words", { title: "A run to watch" });

    await page.getByRole("heading", { name: "A run to watch", level: 1 }).waitFor();
    await conversation(page).getByText("first words").last().waitFor();
    await conversation(page).getByText("last words").last().waitFor();
    await page.getByText("Done", { exact: true }).first().waitFor();
    await page.getByLabel("Message to the agent").fill("say after the end");
    await page.getByRole("button", { name: "Continue" }).click();

    await conversation(page).getByText("after the end").last().waitFor();
    expect(await page.getByLabel("Message to the agent").inputValue()).toBe("");
  });

  test("the details of a run with an output schema have the data of its answer", async () => {
    const output_schema = {
      type: "object",
      required: ["answer"],
      properties: { answer: { type: "string" } },
    };
    const page = await openRun("say hello", { config: { output_schema } });
    await page.getByText("Done", { exact: true }).first().waitFor();

    await page
      .getByRole("navigation", { name: "Run", exact: true })
      .getByRole("link", { name: "Details" })
      .click();

    const data = page.getByRole("group", { name: "Data of the answer" });
    // The demo agent answers with a sample of the schema.
    expect(JSON.parse((await data.textContent()) ?? "")).toEqual({ answer: "demo" });
  });

  test("a question is answered with its button", async () => {
    const page = await openRun("ask\nsay it was allowed", { interactive: true });

    await page.getByText("Needs you").first().waitFor();
    await conversation(page).getByRole("button", { name: "Allow" }).click();

    await conversation(page).getByText("it was allowed").last().waitFor();
    await page.getByText("Done", { exact: true }).first().waitFor();
  });

  test("a run is stopped with its button", async () => {
    const page = await openRun("sleep 600");
    await page.getByText("Working", { exact: true }).first().waitFor();

    await page.getByRole("button", { name: "Stop" }).first().click();
    const confirm = page.getByRole("dialog").getByRole("button", { name: /Stop/ });
    await Promise.race([
      confirm.waitFor().then(() => confirm.click()),
      page.getByText("Stopped", { exact: true }).first().waitFor(),
    ]);

    await page.getByText("Stopped", { exact: true }).first().waitFor();
  });

  test("a message to a working run waits in the conversation until the agent reads it", async () => {
    const page = await openRun("sleep 3\nsay turn one");
    await page.getByText("Working", { exact: true }).first().waitFor();

    await page.getByLabel("Message to the agent").fill("say turn two");
    await page.getByRole("button", { name: "Send" }).click();

    await conversation(page)
      .getByText(/^Waiting/)
      .first()
      .waitFor();
    await conversation(page).getByText("turn two").last().waitFor();
    await page.getByText("Done", { exact: true }).first().waitFor();
  });

  test("two people see the same run, and what one of them does", async () => {
    const other = await harness.open({ key: harness.service.apiKey });
    const page = await openRun("ask\nsay both see it", { interactive: true });
    const theirs = await other.newPage();
    await theirs.goto(page.url());
    await conversation(theirs).getByRole("button", { name: "Allow" }).waitFor();

    await conversation(page).getByRole("button", { name: "Allow" }).click();

    await conversation(theirs).getByText("both see it").last().waitFor();
    await other.close();
  });

  test("a viewer keeps up after the server was started again", async () => {
    const page = await openRun("say before");
    await page.getByText("Done", { exact: true }).first().waitFor();

    await harness.restart();
    await harness.api(`/runs/${new URL(page.url()).pathname.split("/").at(-1)}/followups`, {
      message: "say behind the start",
    });

    await conversation(page).getByText("behind the start").last().waitFor();
  });

  test(`the first view of a run takes at most ${FIRST_VIEW_MAX_KB} kB on the wire`, async () => {
    const { run_id } = await harness.api("/runs", { prompt: "say measured\nwrite a.ts const a = 1;" });
    await waitFor(async () => (await harness.api(`/runs/${run_id}`)).state === "SUCCEEDED", {
      what: "the end of the run",
    });
    const page = await context.newPage();
    const network = await context.newCDPSession(page);
    const received: number[] = [];
    network.on("Network.loadingFinished", ({ encodedDataLength }) => received.push(encodedDataLength));
    await network.send("Network.enable");
    await network.send("Network.setCacheDisabled", { cacheDisabled: true });

    await page.goto(`${harness.service.url}/runs/${run_id}`);
    await conversation(page).getByText("measured").last().waitFor();
    await page.getByText("Done", { exact: true }).first().waitFor();

    const kilobytes = received.reduce((sum, bytes) => sum + bytes, 0) / 1_000;
    expect(received.length).toBeGreaterThan(20);
    expect(kilobytes).toBeGreaterThan(100);
    expect(kilobytes).toBeLessThanOrEqual(FIRST_VIEW_MAX_KB);
  });

  test("the guest of a share link sees the run and nothing else", async () => {
    const { run_id } = await harness.api("/runs", { prompt: "say shared words", title: "A shared run" });
    const { url } = await harness.api(`/runs/${run_id}/share-links`, {
      access: "VIEWER",
      expires_in_seconds: 3_600,
    });
    const guest = await harness.open();
    const page = await guest.newPage();
    const refused: string[] = [];
    page.on("response", (response) => {
      if (response.status() === 401 || response.status() === 403) {
        refused.push(`${response.status()} ${new URL(response.url()).pathname}`);
      }
    });

    await page.goto(String(url));

    await page.getByRole("heading", { name: "A shared run" }).waitFor();
    await conversation(page).getByText("shared words").last().waitFor();
    expect(await page.getByLabel("Message to the agent").count()).toBe(0);
    expect(await page.getByRole("link", { name: "Environments" }).count()).toBe(0);
    expect(refused).toEqual([]);
    await guest.close();
  });

  test("nothing that an agent prints runs or hides the page", async () => {
    const page = await openRun(HOSTILE, { title: "<b>A hostile run</b>" });
    const foreign: string[] = [];
    page.on("request", (request) => {
      if (new URL(request.url()).origin !== harness.service.url) {
        foreign.push(request.url());
      }
    });

    await page.getByText("Done", { exact: true }).first().waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "<b>A hostile run</b>" }).waitFor();
    await conversation(page).getByText("hostile.html").last().waitFor();

    expect(await page.title()).toContain("<b>A hostile run</b>");
    expect(
      await page.evaluate(
        "document.querySelectorAll('#root script, #root iframe, #root style, a[href^=javascript]').length",
      ),
    ).toBe(0);
    expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);
    expect(foreign).toEqual([]);
  });

  test.each(["changes", "files", "events", "details"])(
    "axe finds nothing serious in the tab %s",
    async (tab) => {
      const page = await openRun("write note.txt hello\nsay done\nask", { interactive: true });
      await page.getByText("Needs you").first().waitFor();

      const ofConversation = await axeFindings(page);
      await page
        .getByRole("navigation", { name: "Run", exact: true })
        .getByRole("link", { name: new RegExp(tab, "i") })
        .click();
      await page.waitForURL(new RegExp(`${tab}`));

      expect([ofConversation, await axeFindings(page)]).toEqual([[], []]);
    },
  );

  test("no page met an error of a script or a refusal of the content policy", () => {
    expect(harness.complaints).toEqual([]);
  });
});
