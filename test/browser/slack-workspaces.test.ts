import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BrowserHarness, reasonToSkipChromium, startBrowserHarness } from "../support/chromium.ts";
import { type EmulatedSlack, startEmulatedSlack } from "../support/emulated-slack.ts";
import { waitFor } from "../support/wait-for.ts";

const skipped = await reasonToSkipChromium();

describe.skipIf(skipped !== undefined)("a workspace of Slack that is not connected", () => {
  let harness: BrowserHarness;
  let slack: EmulatedSlack;

  beforeAll(async () => {
    slack = await startEmulatedSlack();
    const { apiUrl, app, signingSecret } = slack;
    harness = await startBrowserHarness({
      ...{ SLACK_SIGNING_SECRET: signingSecret, SLACK_API_URL: apiUrl },
      ...{ SLACK_CLIENT_ID: app.clientId, SLACK_CLIENT_SECRET: app.clientSecret },
    });
  });
  afterAll(async () => {
    await harness.close();
    await slack.stop();
  });

  test("an operator sees who wrote, installs the app there, and the mention is answered once", async () => {
    const { url } = harness.service;
    const { appMention, message, posted } = await slack.mention(slack.carol, {
      channel: "work",
      text: "say hello",
    });
    for (const event of [appMention, message]) {
      expect((await slack.sendEvent(`${url}/webhooks/slack`, event)).status).toBe(200);
    }
    const page = await (await harness.open({ key: harness.service.apiKey })).newPage();
    const { teamId } = slack.otherWorkspace;
    const listed = (): Promise<Record<string, unknown>> => harness.api("/installations");
    await waitFor(async () => JSON.stringify((await listed()).unconnected).includes(teamId), {
      what: "the workspace in the list",
    });
    await page.goto(`${url}/setup/slack`);
    await page.getByText(`The workspace ${teamId} wrote to Errand and is not connected.`).waitFor();
    expect(await page.getByRole("link", { name: "Install in a workspace" }).getAttribute("href")).toBe(
      `${url}/setup/slack/install`,
    );

    slack.oauth.codes.next = { workspace: slack.otherWorkspace };
    await page.goto(`${url}/integrations`);
    await page.getByText(`The Slack workspace ${teamId} wrote to Errand`).waitFor();
    await page.getByRole("link", { name: "Install it there" }).click();
    await page.getByText("The Slack workspace other is connected with your team.").waitFor();

    const answers = () =>
      slack
        .threadMessages(posted.channel.id, posted.ts)
        .filter(({ metadata }) => JSON.stringify(metadata ?? "").includes("card:"));
    await waitFor(() => answers().length > 0, { what: "the card of the mention", timeoutMs: 60_000 });
    await page.goto(`${url}/integrations`);
    await page.getByRole("cell", { name: "Connected" }).waitFor();
    await page.context().close();

    expect(await listed()).toMatchObject({ installations: [{ external_id: teamId }], unconnected: [] });
    expect(answers()).toHaveLength(1);
  });
});
