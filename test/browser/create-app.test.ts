import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  axeFindings,
  type BrowserHarness,
  reasonToSkipChromium,
  startBrowserHarness,
} from "../support/chromium.ts";
import { type EmulatedGithub, startEmulatedGithub } from "../support/emulated-github.ts";
import { waitFor } from "../support/wait-for.ts";

const skipped = await reasonToSkipChromium();

describe.skipIf(skipped !== undefined)("creating the app of a platform in a browser", () => {
  let harness: BrowserHarness;
  let github: EmulatedGithub;

  beforeAll(async () => {
    github = await startEmulatedGithub();
    harness = await startBrowserHarness({ GITHUB_API_URL: github.apiUrl });
  });
  afterAll(async () => {
    await harness.close();
    await github.stop();
  });

  test("the form leads to GitHub and on to its page that installs the App, and the settings can be removed", async () => {
    const context = await harness.open({ key: harness.service.apiKey });
    const page = await context.newPage();
    await page.goto(`${harness.service.url}/setup/github`);
    await page.getByLabel(/^Organization \(empty/).fill("acme");
    const findings = [await axeFindings(page)];
    await page.getByRole("button", { name: "Create the App" }).click();
    await page.getByRole("button", { name: `Continue to ${new URL(github.apiUrl).host}` }).waitFor();
    findings.push(await axeFindings(page));
    await page.getByRole("button", { name: /^Continue to/ }).click();
    await page.waitForURL(`${github.apiUrl}/apps/errand/installations/new`);

    expect(findings).toEqual([[], []]);
    expect(github.manifests.organization).toBe("acme");
    await waitFor(() => harness.service.output().split('"app.started"').length === 3, {
      what: "the restart",
    });
    await page.goto(`${harness.service.url}/setup/github`);
    await page.getByText("GITHUB_APP_ID", { exact: false }).first().waitFor();
    expect(await axeFindings(page)).toEqual([]);
    // The process that is about to stop may still answer with what it was started with.
    for (const path of ["installations/guides", "doctor"]) {
      const before = await page.evaluate(async (url) => (await fetch(url)).text(), `/api/v1/agent/${path}`);
      await page.route(`**/agent/${path}`, (route) => route.fulfill({ json: JSON.parse(before) }), {
        times: 1,
      });
    }
    await page.getByRole("button", { name: "Remove settings" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Remove settings" }).click();
    await page.getByRole("button", { name: "Create the App" }).waitFor();
    await context.close();
  });
});
