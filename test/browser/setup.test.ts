import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  axeFindings,
  type BrowserHarness,
  reasonToSkipChromium,
  startBrowserHarness,
} from "../support/chromium.ts";
import { type EmulatedGithub, startEmulatedGithub } from "../support/emulated-github.ts";
import { type EmulatedSlack, startEmulatedSlack } from "../support/emulated-slack.ts";
import { githubEnvironment, slackEnvironment } from "../support/service.ts";
import { waitFor } from "../support/wait-for.ts";

const skipped = await reasonToSkipChromium();

describe.skipIf(skipped !== undefined)("the set-up of Slack and GitHub in a browser", () => {
  let harness: BrowserHarness;
  let slack: EmulatedSlack;
  let github: EmulatedGithub;

  beforeAll(async () => {
    [slack, github] = [await startEmulatedSlack(), await startEmulatedGithub()];
    harness = await startBrowserHarness({
      ...slackEnvironment(slack),
      SLACK_BOT_TOKEN: "xoxb-of-another-app",
      ...githubEnvironment(github),
    });
  });
  afterAll(async () => {
    await harness.close();
    await Promise.all([slack.stop(), github.stop()]);
  });

  async function visit(path: string, options: Parameters<BrowserHarness["open"]>[0] = {}): Promise<Page> {
    const context = await harness.open({ key: harness.service.apiKey, ...options });
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const page = await context.newPage();
    await page.goto(harness.service.url + path);
    return page;
  }

  function check(page: Page, name: string) {
    return page.locator(".checks li", { has: page.getByText(name, { exact: true }) });
  }

  /** Presses the button that copies this text. */
  async function copied(page: Page, title: string): Promise<string> {
    // A browser gives the clipboard to the page that has the focus.
    await page.bringToFront();
    await page.evaluate("navigator.clipboard.writeText('')");
    await page.getByRole("button", { name: `Copy ${title}`, exact: true }).click();
    const read = (): Promise<string> => page.evaluate("navigator.clipboard.readText()");
    await waitFor(async () => (await read()) !== "", { what: `${title} in the clipboard` });
    return read();
  }

  /** The key of a member of the team. */
  async function memberKey(): Promise<string> {
    const post = async (path: string, body: object) => {
      const response = await fetch(`${harness.service.url}/api/v1/agent/${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${harness.service.apiKey}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return (await response.json()) as { readonly uid?: string; readonly key?: string };
    };
    const { uid } = await post("principals", { type: "user", display_name: "Mira" });
    const { key = "" } = await post("keys", { name: "Mira", scopes: ["runs:write"], principal_uid: uid });
    return key;
  }

  test("the first page and the steps of a platform say what is done already", async () => {
    const page = await visit("/");
    await expect.poll(() => page.locator(".ways .state.done").allTextContents()).toHaveLength(2);
    await page.goto(`${harness.service.url}/setup/github`);

    await page.getByText("The server has the settings of GitHub.").waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.context().close();
  });

  test("a wrong token is shown with its remedy, in the overview and beside the steps", async () => {
    const page = await visit("/setup");

    await check(page, "Slack token").getByText("Slack refuses the token: invalid_auth.").waitFor();
    await page.getByRole("link", { name: "Steps and checks of Slack" }).click();
    await page.getByRole("heading", { name: "Connect Slack", level: 1 }).waitFor();
    const token = await check(page, "Slack token").textContent();
    await page.context().close();

    expect(token).toContain("Fails:");
    expect(token).toContain("Set SLACK_BOT_TOKEN to the token of an installed app.");
  });

  test("the steps for Slack have manifests to copy, for HTTP and for Socket Mode", async () => {
    const page = await visit("/setup/slack");
    const { url } = harness.service;

    await page.getByRole("button", { name: "With a public address" }).click();
    await page.getByText(`The address of this server is ${url}.`).waitFor();
    const http = await copied(page, "Manifest");
    await page.getByRole("button", { name: "Without a public address (Socket Mode)" }).click();
    await page.getByRole("heading", { name: "Create the token of the connection" }).waitFor();
    const socket = await copied(page, "Manifest");
    const lines = await copied(page, "Lines for your environment");
    const link = await page
      .getByRole("link", { name: "Create the app from the manifest" })
      .getAttribute("href");
    await page.context().close();

    expect(http).toContain(`request_url: ${url}/webhooks/slack`);
    expect(socket).not.toContain(url);
    expect(lines).toBe("SLACK_APP_TOKEN=\nSLACK_BOT_TOKEN=");
    expect(new URL(link ?? "").host).toBe("api.slack.com");
  });

  test("the steps for GitHub have a filled form for an organization, and the checks are live", async () => {
    const page = await visit("/setup/github");

    await check(page, "GitHub app").getByText("The App errand has all permissions and events.").waitFor();
    await page.getByLabel("Organization").fill("acme");
    const link = await page.getByRole("link", { name: "Create it for an organization" }).getAttribute("href");
    await check(page, "GitHub events").getByText("No event of GitHub has come yet.").waitFor();
    const delivery = await github.openIssue("wendy", { title: "An issue", body: "nothing" });
    await github.sendWebhook(`${harness.service.url}/webhooks/github`, delivery);
    await page.getByRole("button", { name: "Check again" }).click();
    await check(page, "GitHub events")
      .getByText(/last sent a request with a valid signature/)
      .waitFor();
    const webhook = await copied(page, "Webhook URL");
    await page.context().close();

    expect(new URL(link ?? "").pathname).toBe("/organizations/acme/settings/apps/new");
    expect(webhook).toBe(`${harness.service.url}/webhooks/github`);
  });

  test("a member sees neither the checks nor the steps, and the API refuses them", async () => {
    const key = await memberKey();
    for (const path of ["/setup", "/setup/slack"]) {
      const page = await visit(path, { key });
      await page.getByText("are set up by its operators").waitFor();
      expect(await page.getByText(/Slack token|Manifest|Connect Slack/).count()).toBe(0);
      await page.context().close();
    }

    const response = await fetch(`${harness.service.url}/api/v1/agent/installations/guides`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(response.status).toBe(403);
  });

  test.each([
    ["light", { colorScheme: "light" }],
    ["dark", { colorScheme: "dark" }],
    ["phone", { viewport: { width: 390, height: 844 }, hasTouch: true }],
  ] as const)(
    "axe finds nothing serious in the look %s, and nothing scrolls sideways",
    async (look, options) => {
      for (const path of ["/setup", "/setup/slack", "/setup/github"]) {
        const page = await visit(path, options);
        await page.locator(".checks").first().waitFor();
        await page
          .getByText(/^Loading /)
          .first()
          .waitFor({ state: "detached" });
        const isWide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");

        expect([await axeFindings(page), isWide], `${path} ${look}`).toEqual([[], false]);
        await page.context().close();
      }
    },
  );

  test("no page complains about its content policy", () => {
    expect(harness.complaints).toEqual([]);
  });
});
