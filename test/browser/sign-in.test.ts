import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BrowserHarness, reasonToSkipChromium, startBrowserHarness } from "../support/chromium.ts";
import { type EmulatedGithub, startEmulatedGithub } from "../support/emulated-github.ts";
import { type EmulatedSlack, startEmulatedSlack } from "../support/emulated-slack.ts";
import { freePort } from "../support/free-port.ts";
import { OIDC_CLIENT, type OidcIssuer, startOidcIssuer } from "../support/oidc-issuer.ts";
import { githubEnvironment, slackEnvironment } from "../support/service.ts";
import { waitFor } from "../support/wait-for.ts";

const skipped = await reasonToSkipChromium();

describe.skipIf(skipped !== undefined)("signing in with a browser", () => {
  let harness: BrowserHarness;
  let issuer: OidcIssuer;
  let slack: EmulatedSlack;
  let github: EmulatedGithub;

  beforeAll(async () => {
    // The providers know the address of the service before it starts.
    const port = String(await freePort());
    issuer = await startOidcIssuer(`http://127.0.0.1:${port}/signin/oidc/callback`);
    [slack, github] = [await startEmulatedSlack(), await startEmulatedGithub()];
    harness = await startBrowserHarness({
      ERRAND_PORT: port,
      ERRAND_OIDC_ISSUER: issuer.url,
      ERRAND_OIDC_CLIENT_ID: OIDC_CLIENT.clientId,
      ERRAND_OIDC_CLIENT_SECRET: OIDC_CLIENT.clientSecret,
      ERRAND_OIDC_NAME: "acme SSO",
      ERRAND_OIDC_DOMAINS: "acme.test",
      ERRAND_SIGN_IN_HELP: "Ask olga@acme.test.",
      ...slackEnvironment(slack),
      SLACK_CLIENT_ID: slack.app.clientId,
      SLACK_CLIENT_SECRET: slack.app.clientSecret,
      ...githubEnvironment(github),
      GITHUB_CLIENT_ID: github.app.clientId,
      GITHUB_CLIENT_SECRET: github.app.clientSecret,
    });
  });
  afterAll(async () => {
    await harness.close();
    await Promise.all([issuer.stop(), slack.stop(), github.stop()]);
  });

  /** Opens `/account` without a sign-in, and follows the button of this way. */
  async function signInWith(name: string): Promise<Page> {
    const context = await harness.open();
    const page = await context.newPage();
    await page.goto(`${harness.service.url}/account`);
    await page.getByText("You come back to the page that you opened.").waitFor();
    await page.getByRole("link", { name: `Continue with ${name}` }).click();
    return page;
  }

  async function expectSignedIn(page: Page, who: string): Promise<void> {
    await page.waitForURL(`${harness.service.url}/account`);
    await page.getByText(`${who}, member of the team`).waitFor();
    await page.getByText("(this browser)").waitFor();
    await page.context().close();
  }

  test("an identity provider signs a person in, who comes back to the opened page", async () => {
    issuer.accounts.set("ann", { email: "ann@acme.test", email_verified: true, name: "Ann" });
    issuer.next = "ann";

    await expectSignedIn(await signInWith("acme SSO"), "Ann");
  });

  test("Slack signs a member of the workspace in", async () => {
    slack.openid.codes.next = slack.alice;

    await expectSignedIn(await signInWith("Slack"), "alice");
  });

  test("GitHub signs a person in who may write to a repository of the App", async () => {
    github.setPermission("wendy", "write");
    // The first event makes the installation known.
    const delivery = await github.openIssue("wendy", { title: "An issue", body: "@errand say hello" });
    await github.sendWebhook(`${harness.service.url}/webhooks/github`, delivery);
    github.oauth.codes.next = "wendy";
    const isKnown = async () => {
      const response = await fetch(`${harness.service.url}/api/v1/agent/installations`, {
        headers: { authorization: `Bearer ${harness.service.apiKey}` },
      });
      return (await response.text()).includes('"adapter":"github"');
    };
    await waitFor(isKnown, { what: "the installation" });

    await expectSignedIn(await signInWith("GitHub"), "wendy");
  });

  test("a stranger reads whom to ask and is not signed in", async () => {
    issuer.accounts.set("eve", { email: "eve@elsewhere.test", email_verified: true, name: "Eve" });
    issuer.next = "eve";

    const page = await signInWith("acme SSO");

    await page.getByText("Ask olga@acme.test.").waitFor();
    await page.goto(`${harness.service.url}/account`);
    expect(new URL(page.url()).pathname).toBe("/signin");
    await page.context().close();
  });

  test("a key signs in, and signing out ends it", async () => {
    const context = await harness.open({ key: harness.service.apiKey });
    const page = await context.newPage();
    await page.goto(`${harness.service.url}/account`);

    await page.getByRole("button", { name: "Sign out" }).click();

    await page.waitForURL(`${harness.service.url}/signin`);
    await page.goto(`${harness.service.url}/account`);
    expect(new URL(page.url()).pathname).toBe("/signin");
    await context.close();
  });
});
