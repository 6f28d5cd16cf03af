import { afterEach, beforeEach, expect, test } from "vitest";
import { aCard, runId, SlackFixture } from "./slack-fixture.ts";

let fixture: SlackFixture;
beforeEach(async () => {
  fixture = await SlackFixture.open();
});
afterEach(() => fixture.close());

test("Slack takes an answer that says what changed, and its button asks Errand for nothing", async () => {
  const message = await fixture.mentioned();
  const landed = [
    {
      repository: "acme/app",
      pullRequest: "https://git.example/acme/app/pull/12",
      isDraft: true,
      files: 2,
      additions: 12,
      deletions: 3,
    },
    { repository: "acme/docs", files: 1, additions: 0, deletions: 4 },
  ];

  await fixture.deliver(message, { kind: "message", purpose: "answer", text: "Done.", landed });

  const [answer] = fixture.repliesTo(message);
  expect(answer?.blocks.slice(2)).toMatchObject([
    {
      text: { text: "acme/app · draft #12 · 2 files +12 −3" },
      accessory: { text: { text: "Open" }, url: "https://git.example/acme/app/pull/12" },
    },
    { text: { text: "acme/docs · 1 file +0 −4" } },
  ]);
  await fixture.slack.sendButton(fixture.url, {
    user: fixture.slack.bob,
    message: { channel: fixture.slack.channel.id, ts: answer?.ts ?? "" },
    actionId: "errand_open",
    value: "",
  });
  expect(await fixture.translateLast()).toMatchObject({ kind: "ignored" });
});

test("beside changes without a pull request, a button asks for one", async () => {
  const message = await fixture.mentioned();
  const landed = [{ repository: "acme/docs", files: 1, additions: 0, deletions: 4 }];
  const said = { kind: "message", purpose: "answer", text: "Done." } as const;

  await fixture.deliver(message, { ...said, landed, offersPullRequest: runId });

  const [answer] = fixture.repliesTo(message);
  const button = { action_id: "errand_pull_request", text: { text: "Create pull request" }, value: runId };
  expect(answer?.blocks.at(-1)).toMatchObject({
    text: { text: "acme/docs · 1 file +0 −4" },
    accessory: button,
  });
  await fixture.slack.sendButton(fixture.url, {
    user: fixture.slack.bob,
    message: { channel: fixture.slack.channel.id, ts: answer?.ts ?? "" },
    actionId: button.action_id,
    value: button.value,
  });
  expect(await fixture.translateLast()).toMatchObject({
    kind: "message",
    message: { buttonAction: { kind: "pull_request", runId } },
  });
});

test("the card says beforehand what becomes of changes", async () => {
  const message = await fixture.mentioned();
  const workspace = { environment: "Web", repositories: ["acme/app"], changes: "draft" } as const;

  await fixture.deliver(message, aCard({ workspace }));

  const [card] = fixture.repliesTo(message);
  expect(JSON.stringify(card?.blocks)).toContain(
    "In Web, acme/app. Changes become a draft pull request, without one by pr=off.",
  );
});
