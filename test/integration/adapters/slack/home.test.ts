import { afterEach, beforeEach, expect, test } from "vitest";
import type { RunLine } from "../../../../src/core/threads/inbox/person-views.ts";
import { SlackFixture } from "./slack-fixture.ts";

let fixture: SlackFixture;

beforeEach(async () => {
  fixture = await SlackFixture.open();
});

afterEach(async () => {
  await fixture.close();
});

async function openHome(): Promise<string> {
  const { alice } = fixture.slack;
  const event = { type: "app_home_opened", user: alice.id, channel: "D1", tab: "home", event_ts: "1.1" };
  expect((await fixture.slack.sendEvent(fixture.url, event)).status).toBe(200);
  const [view] = fixture.slack.dialogs.viewsOf(alice).filter(({ type }) => type === "home");
  return JSON.stringify(view?.blocks ?? []);
}

function aLine(title: string): RunLine {
  return { title, state: "waits for an answer", link: "https://errand.example/sessions/1" };
}

test("the Home tab shows what waits for its reader, the reader's runs and a button, and stores nothing", async () => {
  const home = { waiting: [aLine("Which branch?")], mine: [aLine("Fix it")] };
  fixture.views = { ...fixture.views, home: async () => home };

  const shown = await openHome();

  expect(shown).toMatch(/New run.*Waits for you.*Which branch\?.*Your runs.*Fix it/);
  expect(shown).toContain("<https://errand.example/sessions/1|Fix it>\\nIt waits for an answer.");
  expect(fixture.inbox).toEqual([]);
  const { alice, teamId } = fixture.slack;
  expect(fixture.viewRequests).toMatchObject([
    { installation: teamId, authorization: { author: { subject: `slack:${teamId}:${alice.id}` } } },
  ]);
});

test("a title is neither a mention nor a link with other words, and long lists keep the limits of Slack", async () => {
  const title = `<!channel> <https://evil.example|Sign in> x|y ${"&".repeat(3_000)}`;
  const lines = Array.from({ length: 10 }, () => aLine(title));
  fixture.views = { ...fixture.views, home: async () => ({ waiting: lines, mine: lines }) };

  const shown = await openHome();

  expect(shown).not.toMatch(/<!channel>|<https:\/\/evil/);
  expect(shown).toContain("https://errand.example/sessions/1|&lt;");
});

test("a person who may not use Errand reads why", async () => {
  fixture.views = { ...fixture.views, home: async () => ({ refusal: "Guests may not start runs." }) };

  expect(await openHome()).toContain("Guests may not start runs.");
});

test.each(["ratelimited", "not_enabled"])(
  "an opened tab is acknowledged although Slack says %s, and drawn the next time",
  async (error) => {
    fixture.slack.faults.next({ method: "views.publish", kind: "ok-false", error });

    expect(await openHome()).toBe("[]");
    expect(await openHome()).toContain("You have no runs yet.");
  },
);

test("its button opens the form of a new run", async () => {
  const { alice, dialogs } = fixture.slack;

  expect((await dialogs.sendHomeButton(fixture.url, alice, "errand_new_run")).status).toBe(200);

  const [form] = dialogs.viewsOf(alice);
  expect(form).toMatchObject({ type: "modal", title: "New run" });
  expect(fixture.inbox).toEqual([]);
});
