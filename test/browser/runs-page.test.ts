import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  axeFindings,
  type BrowserHarness,
  reasonToSkipChromium,
  startBrowserHarness,
} from "../support/chromium.ts";

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

  async function post(path: string, body: object, key = harness.service.apiKey) {
    const response = await fetch(`${harness.service.url}/api/v1/agent/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return (await response.json()) as { readonly [member: string]: string };
  }

  async function createRun(prompt: string, more: object = {}): Promise<string> {
    return (await post("runs", { prompt, ...more })).run_id ?? "";
  }

  /** A member of the team with a key. */
  async function addMember(name: string): Promise<{ readonly uid: string; readonly key: string }> {
    const { uid = "" } = await post("principals", { type: "user", display_name: name });
    const { key = "" } = await post("keys", { name, scopes: ["runs:write"], principal_uid: uid });
    return { uid, key };
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

  test("a run is started with a priority, and a policy that refuses one says so at its field", async () => {
    await post("policies", {
      name: "No hurry",
      priority: 3,
      effect: "deny",
      match: { actions: ["create"], priorities: ["high"] },
    });
    const page = await visit("/new");
    const field = page.getByLabel("Priority");
    await page.getByLabel("What should be done?").fill("say hurry");
    await field.selectOption("High");
    await page.keyboard.press("Control+Enter");
    await page.getByText('Is refused by the policy "No hurry".').waitFor();
    const focused = await page.evaluate("document.activeElement.name");
    const findings = await axeFindings(page);

    await field.selectOption("Low");
    await page.keyboard.press("Control+Enter");
    await page.waitForURL(/\/runs\/[0-9a-f-]{36}$/);

    expect([focused, findings]).toEqual(["priority", []]);
    const run = await harness.api(`/runs/${page.url().split("/").at(-1)}`);
    expect(run.agent_config).toMatchObject({ priority: "low" });
  });

  test("a run that another program starts appears and changes without a reload", async () => {
    const page = await visit("/");
    await page.getByRole("heading", { name: "All runs" }).waitFor();

    await createRun("ask; say answered", { title: "A live run", interactive: true });

    await row(page, "A live run").getByText("Needs you").waitFor();
    await page.waitForFunction('document.title.startsWith("(1)")');
    expect(await row(page, "A live run").getByRole("link", { name: "Answer" }).count()).toBe(1);
  });

  test("only runs with an open pull request whose rows are on the screen are looked at", async () => {
    await createRun("say done", { title: "A template" });
    const page = await context.newPage();
    const looked: string[] = [];
    const url = "https://git.example.com/acme/widgets/pull/7";
    const status = { url, state: "open", checks: { total: 1, passed: 1, failed: 0 } };
    const open = {
      artifacts: [{ artifact_type: "PULL_REQUEST", data: { url, branch: "b" } }],
      state: "SUCCEEDED",
    };
    await page.route("**/api/v1/agent/runs?*", async (route) => {
      const answer = await route.fetch();
      const { runs, ...others } = await answer.json();
      const copies = Array.from({ length: 60 }, (_, number) => ({
        ...{
          ...runs[0],
          ...open,
          title: `Number ${number}`,
          run_id: `00000000-0000-4000-8000-${1e11 + number}`,
        },
        pull_request_status: number === 1 ? { ...status, state: "merged" } : status,
      }));
      const isEnded = route.request().url().includes("SUCCEEDED") && runs.length > 0;
      await route.fulfill({ json: { ...others, runs: isEnded ? copies : [] } });
    });
    await page.route("**/api/v1/agent/runs/00000000-*", async (route) => {
      looked.push(String(Number(route.request().url().slice(-12)) - 1e11));
      await route.fulfill({ status: 404, json: {} });
    });

    await page.goto(`${harness.service.url}/`);
    await row(page, "Number 59").waitFor();
    await expect.poll(() => looked).toContain("0");
    expect(looked).not.toContain("1");
    expect(looked).not.toContain("59");
    await row(page, "Number 59").scrollIntoViewIfNeeded();

    await expect.poll(() => looked).toContain("59");
  });

  test("a run that waits for an approval needs those who may approve, and says so to everyone else", async () => {
    const [ann, dana] = [await addMember("Ann Lee"), await addMember("Dana Fischer")];
    const ofAnn = { actions: ["create"], principals: [ann.uid] };
    const byDana = { actions: ["approve"], principals: [dana.uid] };
    await post("policies", { name: "Ask Dana", priority: 1, effect: "require_approval", match: ofAnn });
    await post("policies", { name: "Dana approves", priority: 2, effect: "allow", match: byDana });
    const { run_id: id } = await post("runs", { prompt: "say approved", title: "A guarded run" }, ann.key);
    const [annContext, danaContext] = [
      await harness.open({ key: ann.key }),
      await harness.open({ key: dana.key }),
    ];
    const [annPage, danaPage] = [await annContext.newPage(), await danaContext.newPage()];

    await annPage.goto(`${harness.service.url}/`);
    await row(annPage, "A guarded run").getByText("Needs Dana", { exact: true }).waitFor();
    const isAsked = await row(annPage, "A guarded run").getByRole("link", { name: "Review" }).count();
    await annPage.goto(`${harness.service.url}/runs/${id}`);
    await annPage.getByText(/^Dana Fischer or .+ must decide\.$/).waitFor();
    const buttons = await annPage.getByRole("button", { name: "Approve" }).count();
    await danaPage.goto(`${harness.service.url}/`);
    await row(danaPage, "A guarded run").getByText("Needs you").waitFor();
    await row(danaPage, "A guarded run").getByRole("link", { name: "Review" }).click();
    await danaPage.getByRole("button", { name: "Approve" }).click();
    await annPage.getByText("Done", { exact: true }).first().waitFor();

    expect([isAsked, buttons]).toEqual([0, 0]);
    expect(await annPage.title()).not.toContain("(!)");
    await Promise.all([annContext.close(), danaContext.close()]);
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

  test("a view without a run says so in its own words, and is the only current one", async () => {
    const { key } = await addMember("Noa Stern");
    const phone = await harness.open({ key, viewport: { width: 390, height: 844 } });
    const page = await phone.newPage();

    await page.goto(`${harness.service.url}/?view=mine&q=nothing`);
    await page.getByText("No run matches “nothing”.").waitFor();
    const current = await page.locator(".views [aria-current]").allTextContents();
    await page.getByRole("link", { name: "Clear filters" }).click();

    await page.getByText("You have started no run yet.").waitFor();
    expect(current).toEqual(["Mine"]);
    await phone.close();
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

  test("a run that is opened from the list after the set-up looks like one that is opened by its address", async () => {
    const id = await createRun("write notes.txt hello", { title: "A run with a step" });
    const page = await visit(`/runs/${id}`);
    const step = page.locator(".step-line", { hasText: "notes.txt" }).first();
    await step.waitFor();
    const expected = await step.boundingBox();

    await page.goto(`${harness.service.url}/setup`);
    await page.getByRole("heading", { name: "Set up", level: 1 }).waitFor();
    await page.getByRole("link", { name: "All", exact: true }).first().click();
    await row(page, "A run with a step").getByRole("link", { name: "A run with a step" }).click();
    await step.waitFor();
    const actual = await step.boundingBox();
    await page.getByRole("link", { name: "Details", exact: true }).click();

    await page.waitForURL(/tab=details/);
    expect(actual?.width).toBe(expected?.width);
  });

  test("the menu of a phone has the focus while it is open, and Escape gives it back", async () => {
    const phone = await harness.open({ key: harness.service.apiKey, viewport: { width: 390, height: 844 } });
    const page = await phone.newPage();
    await page.goto(`${harness.service.url}/new`);
    await page.getByRole("heading", { name: "New run", level: 1 }).waitFor();
    const focused = () => page.evaluate("document.activeElement.getAttribute('aria-label')");

    await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("link", { name: "System" }).waitFor();
    const inside = await focused();
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "System" }).waitFor({ state: "hidden" });

    expect([inside, await focused()]).toEqual(["Close the menu", "Menu"]);
    await phone.close();
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

    const signIn = page.waitForURL(/\/signin\?next=%2F(system|integrations)$/);
    // A request that the page makes by itself may notice it before the click.
    await Promise.race([signIn, page.getByRole("link", { name: "Integrations" }).click()]);

    await signIn;
    await own.close();
  });

  test("no page met an error of a script or a refusal of the content policy", () => {
    expect(harness.complaints).toEqual([]);
  });
});
