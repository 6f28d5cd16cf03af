import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { blocksOf } from "../support/documentation.ts";
import { asRecord } from "../support/json.ts";
import { slackEnvironment } from "../support/service.ts";
import { linkSharedEvent } from "../support/slack/slack-events.ts";
import { waitFor } from "../support/wait-for.ts";
import { Fixture, TEST_LIMIT_MS, WAIT_LIMIT_MS } from "./service-fixture.ts";
import { SlackThread } from "./slack-thread.ts";

vi.setConfig({ testTimeout: TEST_LIMIT_MS });

const GUIDE = "docs/guides/slack.md";
const EXAMPLE = "errand.example.com";
const HOST = "errand.localhost";
const PUBLIC_URL = `https://${HOST}`;
const WITHOUT_SLACK = { SLACK_BOT_TOKEN: "", SLACK_SIGNING_SECRET: "" };

const feedback = z.object({ action_id: z.string(), positive_button: z.object({ value: z.string() }) });
const ratingBlock = z.tuple([z.object({ elements: z.tuple([feedback]) })]);

let fixture: Fixture;

/** The steps follow the guide in its order, and each begins where the one before it ended. */
beforeAll(async () => {
  fixture = await Fixture.open({ ERRAND_PUBLIC_URL: PUBLIC_URL, ...WITHOUT_SLACK }, { hasGitOnGithub: true });
});

afterAll(async () => {
  try {
    await fixture.checkInvariants();
  } finally {
    await fixture.close();
  }
});

/** What the card or another message of the bot shows, with its buttons in brackets. */
function shown(message: unknown): string {
  return JSON.stringify(message);
}

test("1. Create the app: Slack takes the manifest of the guide, which is that of the page", async () => {
  const [http] = (await blocksOf(GUIDE)).filter(({ language }) => language === "yaml");
  const manifest = String(http?.text.replaceAll(EXAMPLE, HOST));
  const { body } = await fixture.api.call("GET", "/agent/installations/guides");

  expect(shown(asRecord(body).guides)).toContain(shown(manifest).slice(1, -1));
  fixture.slack.installFrom(parse(manifest));
});

test("2. and 3. With the variables, the server confirms its address", async () => {
  await fixture.service.end("SIGTERM");
  const { clientId, clientSecret } = fixture.slack.app;
  const signIn = { SLACK_CLIENT_ID: clientId, SLACK_CLIENT_SECRET: clientSecret };
  await fixture.start({ ...slackEnvironment(fixture.slack), ...signIn });

  const url = `${fixture.service.url}/webhooks/slack`;
  const answer = await fixture.slack.sendUrlVerification(url, "the-challenge");

  expect(await answer.text()).toContain("the-challenge");
});

test("4. Try it: the invited bot says hello in the channel", async () => {
  const { alice, closedChannel } = fixture.slack;
  await fixture.slack.inviteBot(alice, closedChannel);

  const thread = await SlackThread.open(fixture, "say hello", ["appMention", "message"], closedChannel.name);

  expect(await thread.untilAnswers(1)).toEqual([expect.stringMatching(/\bhello$/)]);
  const card = await thread.untilCard("Succeeded");
  expect(shown(card)).toMatch(
    /your team has no environment yet.*<https:\/\/errand\.localhost\/environments\|/,
  );
});

/** An alert of Sentry, whose words are all in its attachment. */
function postAlert(): string {
  const { channel, workspace } = fixture.slack;
  const ts = `${Math.floor(Date.now() / 1_000) - 60}.000100`;
  const alert = {
    ...{ color: "#E03E2F", footer: "APP-1F", title: "TypeError: cart is undefined" },
    title_link: "https://sentry.example/issues/1234",
    text: "```at checkout (src/checkout.ts:42)```",
    fields: [{ title: "environment", value: "production", short: true }],
  };
  const message = { channel_id: channel.id, user: "", bot_id: "B0SENTRY", text: "", ts };
  workspace.addMessage({ ...message, attachments: [alert] });
  return ts;
}

test("Ask for work: an alert is investigated in its thread, and the change opens as a draft pull request", async () => {
  const { fullName } = fixture.github.repo;
  const [owner, repo] = fullName.split("/");
  const config = { name: "App", github_repos: [{ owner, repo }] };
  expect((await fixture.api.call("POST", "/agent/environments", { config })).status).toBe(201);

  const thread = await SlackThread.post(fixture, "investigate this alert", "work", postAlert());
  await thread.deliver(thread.mention.message);
  await thread.deliver(thread.mention.appMention);
  await thread.untilAnswers(1);
  const card = await thread.untilCard("Succeeded");

  const [pull] = fixture.github.pullRequests();
  expect(pull?.title).toBe("investigate this alert");
  const [, answer] = thread.messages;
  expect(answer?.blocks[2]).toMatchObject({
    text: { text: expect.stringMatching(`^${fullName} · draft #1 · 1 file \\+\\d+ −0$`) },
    accessory: { text: { text: "Open" }, url: expect.stringMatching(`/${fullName}/pull/1$`) },
  });
  expect(shown(card).match(/\/pull\/1\b/g)).toHaveLength(1);
  const report = await fixture.gitHost.repositories.read(fullName, String(pull?.branch), "ERRAND-REPORT.md");
  for (const words of ["TypeError: cart is undefined", "src/checkout.ts:42", "environment: production"]) {
    expect(report).toContain(words);
  }
});

test("Ratings: a press under the answer is kept with the run, and only its author is thanked", async () => {
  const { alice, channel } = fixture.slack;
  const thread = await SlackThread.open(fixture, "say rate me");
  await thread.untilAnswers(1);
  const { blocks, ts } = thread.messages.at(-1) ?? expect.fail("There is no answer.");
  const [
    {
      elements: [buttons],
    },
  ] = ratingBlock.parse(blocks.slice(-1));

  const { action_id: actionId, positive_button: positive } = buttons;
  const press = { actionId, value: positive.value, user: alice };
  await fixture.sendButton({ ...press, element: "feedback_buttons", message: { channel: channel.id, ts } });

  const thanks = () =>
    fixture.slack
      .ephemeralMessages(channel.id, alice)
      .at(-1)
      ?.text.match(/^Thank you/);
  await waitFor(thanks, { what: "the thanks", timeoutMs: WAIT_LIMIT_MS });
  const rated = (await fixture.api.events(thread.runId)).filter(({ kind }) => kind === "turn.rated");
  expect(rated).toMatchObject([{ rated_turn: 1, rating: "good" }]);
});

test("Previews: the address of a run shows what became of it", async () => {
  const { alice, channel, workspace } = fixture.slack;
  const [run] = await fixture.api.listRuns("&q=investigate");
  const url = String(run?.session_link);
  const posted = await fixture.slack.postAs(alice, { channel: channel.id, text: `Look: ${url}` });

  await fixture.slack.sendEvent(`${fixture.service.url}/webhooks/slack`, linkSharedEvent(posted, [url]));

  const find = () => workspace.unfurls.ofMessages.get(posted.ts);
  const previews = await waitFor(find, { what: "the preview", timeoutMs: WAIT_LIMIT_MS });
  expect(shown(previews)).toMatch(
    /investigate this alert.*Succeeded · acme\/widgets · <http[^|]*\/pull\/1\|Pull request>/,
  );
});

test("Steer a run: a question is answered by its button, and a reply stops a run", async () => {
  const rule = { name: "Ask", match: { sources: ["SLACK"] }, config: { permission_policy: "ask" } };
  expect((await fixture.api.call("POST", "/agent/routing-rules", rule)).status).toBe(201);
  const asking = await SlackThread.open(fixture, "ask; say Thanks.");
  await asking.untilCard("Waiting for an answer");

  await asking.press("Allow");

  expect(await asking.untilAnswers(1)).toEqual([expect.stringMatching(/Thanks\.$/)]);
  const running = await SlackThread.open(fixture, "sleep 60");
  await running.untilCard("Working");
  await running.reply("stop");
  expect(shown(await running.untilCard("Cancelled"))).toContain("Cancelled by alice.");
});

test("Several workspaces: an administrator connects a second one, and the bot answers there", async () => {
  const { carol, oauth, otherWorkspace } = fixture.slack;
  const { apiKey: key, url } = fixture.service;
  const signedIn = await fetch(`${url}/signin`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ key }),
  });
  const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
  const visit = (path: string) => fetch(`${url}${path}`, { headers: { cookie }, redirect: "manual" });

  oauth.codes.next = { workspace: otherWorkspace };
  const begun = await visit("/setup/slack/install");
  const agreed = await fetch(begun.headers.get("location") ?? "", { redirect: "manual" });
  const done = await visit((agreed.headers.get("location") ?? "").replace(PUBLIC_URL, ""));

  expect(await done.text()).toContain("The Slack workspace other is connected with your team.");
  const { posted, appMention } = await fixture.slack.mention(carol, { channel: "work", text: "say hello" });
  await fixture.sendSlack(appMention);
  const answer = () =>
    fixture.slack
      .threadMessages(posted.channel.id, posted.ts)
      .find(({ text }) => /\bhello$/.test(text) && text !== posted.text);
  const said = await waitFor(answer, { what: "the answer", timeoutMs: WAIT_LIMIT_MS });
  expect(said.userId).toBe(otherWorkspace.botUserId);
});

test("When something is wrong: nothing is, and no call lacked a scope of the manifest", async () => {
  const { body } = await fixture.api.call("GET", "/agent/doctor");

  const checks = (asRecord(body).checks as { name: string; status: string }[]).filter(({ name }) =>
    /^(slack_(token|scopes|events|clock|channels)|dead_notices)$/.test(name),
  );
  expect(checks.filter(({ status }) => status !== "ok")).toEqual([]);
  expect(checks).toHaveLength(6);
  expect(fixture.slack.calls().filter(({ outcome }) => outcome === "missing_scope")).toEqual([]);
});
