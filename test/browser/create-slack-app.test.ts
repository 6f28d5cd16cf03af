import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  axeFindings,
  type BrowserHarness,
  reasonToSkipChromium,
  startBrowserHarness,
} from "../support/chromium.ts";
import { type EmulatedSlack, startEmulatedSlack } from "../support/emulated-slack.ts";
import { waitFor } from "../support/wait-for.ts";

/** Slack sends events only to an https address. The browser asks for it, and the service gets the requests. */
const PUBLIC_URL = "https://errand.localhost";

const skipped = await reasonToSkipChromium();

describe.skipIf(skipped !== undefined)("creating the Slack app in a browser", () => {
  let harness: BrowserHarness;
  let slack: EmulatedSlack;

  beforeAll(async () => {
    slack = await startEmulatedSlack();
    harness = await startBrowserHarness({
      SLACK_API_URL: slack.apiUrl,
      ERRAND_PUBLIC_URL: PUBLIC_URL,
    });
  });
  afterAll(async () => {
    await harness.close();
    await slack.stop();
  });

  test("the form refuses a wrong and an expired token, takes the right one, and shows none of them", async () => {
    const context = await harness.open({});
    await context.route(`${PUBLIC_URL}/**`, async (route) => {
      const url = route.request().url().replace(PUBLIC_URL, harness.service.url);
      // The server starts again meanwhile. Then the page asks once more.
      const response = await route.fetch({ url, maxRedirects: 0 }).catch(() => undefined);
      await (response === undefined ? route.abort() : route.fulfill({ response })).catch(() => undefined);
    });
    const page = await context.newPage();
    await page.goto(`${PUBLIC_URL}/signin`);
    await page.fill("#key", harness.service.apiKey);
    await page.click("button[type=submit]");
    await page.waitForURL(`${PUBLIC_URL}/`);
    const seen: string[] = [];
    page.on("request", (request) => seen.push(request.url()));
    page.on("response", (response) => {
      void response.text().then(
        (text) => seen.push(text),
        () => undefined,
      );
    });
    page.on("console", (message) => seen.push(message.text()));
    await page.goto(`${PUBLIC_URL}/setup/slack`);
    const [token, refresh] = [page.getByLabel("Configuration token"), page.getByLabel("Its refresh token")];
    const apply = async (pair: { readonly token: string; readonly refreshToken: string }) => {
      await token.fill(pair.token);
      await refresh.fill(pair.refreshToken);
      await page.getByRole("button", { name: "Create the app" }).click();
    };
    const problem = page.getByRole("alert");
    const used = slack.manifests.tokens;
    const wrong = { token: "xoxe.xoxp-1-wrong-token", refreshToken: "xoxe-1-wrong-refresh" };

    await apply(wrong);
    await problem.waitFor();
    const findings = [await axeFindings(page)];
    expect(await problem.textContent()).toMatch(/token/i);
    expect(await token.getAttribute("type")).toBe("password");
    slack.manifests.expire();
    await apply({ ...used, refreshToken: wrong.refreshToken });
    await waitFor(() => slack.manifests.calls.length >= 4, { what: "the second try" });
    await problem.waitFor();
    expect(slack.manifests.manifest).toBeUndefined();
    await apply(used);
    await page.getByRole("status").filter({ hasText: "The app is created." }).waitFor();

    expect(await page.getByLabel("Its refresh token").inputValue()).toBe("");
    findings.push(await axeFindings(page));
    expect(findings).toEqual([[], []]);
    await waitFor(() => harness.service.output().split('"app.started"').length === 3, {
      what: "the restart",
    });
    const shown = [page.url(), ...seen, await page.content(), harness.service.output()].join("\n");
    const replaced = slack.manifests.tokens;
    for (const secret of [wrong, used, replaced].flatMap((pair) => [pair.token, pair.refreshToken])) {
      expect(shown).not.toContain(secret);
    }
    await context.close();
  });
});
