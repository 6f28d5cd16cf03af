import { afterEach, beforeEach, expect, test } from "vitest";
import type { RunPreview } from "../../../../src/core/threads/inbox/person-views.ts";
import type { EnvelopeOptions, PostedMessage } from "../../../support/slack/slack-events.ts";
import { linkSharedEvent } from "../../../support/slack/slack-events.ts";
import { PUBLIC_URL, runId, SlackFixture } from "./slack-fixture.ts";

const SESSION = `${PUBLIC_URL}/sessions/${runId}`;
const PULL = "https://git.example/acme/app/pull/12";

let fixture: SlackFixture;
let preview: RunPreview | undefined;
beforeEach(async () => {
  fixture = await SlackFixture.open();
  preview = aPreview();
  fixture.views = { ...fixture.views, preview: async () => preview };
});
afterEach(async () => {
  expect(fixture.inbox).toEqual([]);
  await fixture.close();
});

function aPreview(changes: Partial<RunPreview> = {}): RunPreview {
  const workspace = { environment: "App", repositories: ["acme/app"] };
  const state = "SUCCEEDED" as const;
  return { runId, sessionLink: SESSION, title: "Fix it", state, workspace, ...changes };
}

/** Alice posts these addresses, and Slack tells the app. Returns the message. */
async function share(urls: readonly string[], change: object = {}, options: EnvelopeOptions = {}) {
  const { alice, channel } = fixture.slack;
  const posted = await fixture.slack.postAs(alice, { channel: channel.id, text: urls.join(" ") });
  const event = { ...linkSharedEvent(posted, urls), ...change };
  expect((await fixture.slack.sendEvent(fixture.url, event, options)).status).toBe(200);
  return posted;
}

function shown({ ts }: PostedMessage) {
  return fixture.slack.workspace.unfurls.ofMessages.get(ts) ?? [];
}

test("the address of a run shows its title, state, repository and pull request, as a Work Object and as blocks", async () => {
  preview = aPreview({
    pullRequest: PULL,
    pullRequestStatus: { state: "open", checks: { total: 0, passed: 0, failed: 0 } },
  });

  const [one, ...others] = shown(await share([SESSION]));

  expect(others).toEqual([]);
  expect(one?.url).toBe(SESSION);
  expect(one?.blocks).toMatchObject([
    { text: { text: `*<${SESSION}|Fix it>*` } },
    { elements: [{ text: `Succeeded · acme/app · <${PULL}|Pull request> · open` }] },
  ]);
  expect(one?.entity).toMatchObject({
    entity_type: "slack#/entities/task",
    external_ref: { id: runId },
    entity_payload: {
      attributes: { title: { text: "Fix it" } },
      fields: { status: { value: "Succeeded" } },
      custom_fields: [
        { key: "repository", value: "acme/app" },
        { key: "pull_request", value: PULL },
      ],
    },
  });
  const { alice, teamId } = fixture.slack;
  expect(fixture.viewRequests).toMatchObject([
    { installation: teamId, authorization: { author: { subject: `slack:${teamId}:${alice.id}` } } },
  ]);
});

test("where the app has no Work Objects, the blocks are shown", async () => {
  fixture.slack.workspace.unfurls.hasWorkObjects = false;

  const [one] = shown(await share([SESSION]));

  expect(one?.entity).toBeUndefined();
  expect(JSON.stringify(one?.blocks)).toContain("Fix it");
});

test.each([
  ["its page by the id of the run", `/runs/${runId}`, 1],
  ["a part of its page", `/sessions/${runId}#turn-2`, 1],
  ["its page with a question mark", `/sessions/${runId}?tab=changes`, 1],
  ["another page", "/runs", 0],
  ["a page below it", `/sessions/${runId}/x`, 1],
  ["no id", "/runs/..%2fsettings", 0],
])("%s has as many previews: %s %d", async (_name, path, count) => {
  expect(shown(await share([`${PUBLIC_URL}${path}`]))).toHaveLength(count);
});

test("addresses of other servers have no preview, also if they begin alike", async () => {
  const urls = [`${PUBLIC_URL}.evil.example/sessions/${runId}`, `https://other.example/sessions/${runId}`];

  await share(urls);

  expect(fixture.slack.calls("chat.unfurl")).toEqual([]);
});

test("of many addresses, the first five have one", async () => {
  const urls = Array.from({ length: 7 }, (_, index) => `${SESSION}?n=${index}`);

  expect(shown(await share(urls))).toHaveLength(5);
});

test.each<[string, object, boolean]>([
  ["that Errand itself posted", { user: "U0MAIN001" }, false],
  ["in a message that is being written", { source: "composer" }, false],
  ["in a channel with another organization", {}, true],
])("an address %s has no preview", async (_name, change, isShared) => {
  await share([SESSION], change, isShared ? { sharedBy: fixture.slack.otherWorkspace } : {});

  expect(fixture.slack.calls("chat.unfurl")).toEqual([]);
});

test("a run that its reader may not see has no preview", async () => {
  preview = undefined;

  await share([SESSION]);

  expect(fixture.slack.calls("chat.unfurl")).toEqual([]);
});

test("a title is neither a mention nor a link with other words", async () => {
  preview = aPreview({ title: `<!channel> <https://evil.example|Sign in> ${"&".repeat(3_000)}` });

  const [one] = shown(await share([SESSION]));

  expect(JSON.stringify(one?.blocks)).not.toMatch(/<!channel>|<https:\/\/evil/);
  expect(JSON.stringify(one?.entity)).not.toContain("<!channel>");
});

test.each(["ratelimited", "missing_scope", "cannot_unfurl_message"])(
  "an event is acknowledged although Slack says %s to its preview",
  async (error) => {
    fixture.slack.faults.next({ method: "chat.unfurl", kind: "ok-false", error });
    fixture.slack.faults.next({ method: "chat.unfurl", kind: "ok-false", error });

    expect(shown(await share([SESSION]))).toEqual([]);
  },
);
