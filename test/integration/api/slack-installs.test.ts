import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSlackAdapter } from "../../../src/adapters/slack/index.ts";
import { systemClock } from "../../../src/app/system.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import type { PubSub } from "../../../src/core/ports/pubsub.ts";
import type { AppInstallations } from "../../../src/core/ports/stores/app-installations.ts";
import type { ThreadAdapter, Translation } from "../../../src/core/ports/thread-adapter.ts";
import { PrismaAppInstallations } from "../../../src/storage/app-installations.ts";
import { withConnection } from "../../../src/storage/connection.ts";
import { type EmulatedSlack, startEmulatedSlack } from "../../support/emulated-slack.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { loopbackOnlyFetch } from "../../support/loopback-only.ts";
import { EMPTY_VIEWS } from "../../support/person-views.ts";
import { anInboxEvent } from "../../support/run-builders.ts";
import { eventEnvelope } from "../../support/slack/slack-events.ts";
import type { InstallPlace } from "../../support/slack/slack-oauth.ts";
import { type Answer, call } from "./api-caller.ts";
import { type ApiHarness, PUBLIC_URL, startHarness } from "./api-harness.ts";

const INSTALL = "/setup/slack/install";
const SESSION = { applicationName: "errand tests", queryLimitMs: 30_000 } as const;
const ORGANIZATION = { id: "E0ACME", name: "Acme" };

let slack: EmulatedSlack;
let harness: ApiHarness;
let installations: AppInstallations;
let adapter: ThreadAdapter;
/** An administrator of the team `theirs`. */
let their: { readonly teamId: string; readonly cookie: string };
let operator: string;
let pubsub: PubSub;

beforeEach(async () => {
  slack = await startEmulatedSlack();
  harness = await startHarness({
    installers: ({ secrets, ...stores }) => {
      pubsub = stores.pubsub;
      installations = new PrismaAppInstallations({ ...stores, clock: systemClock });
      const { apiUrl, app, signingSecret } = slack;
      const oauth = { clientId: app.clientId, clientSecret: app.clientSecret };
      const created = createSlackAdapter(
        { apiUrl, signingSecret, oauth },
        {
          ...{ clock: systemClock, log: SILENT_LOG, installations, secrets },
          ...{ accept: async () => true, answerCommand: async () => "", searchChoices: async () => [] },
          readBlob: async () => new Uint8Array(),
          views: EMPTY_VIEWS,
          fetch: (input, init) => loopbackOnlyFetch(input, init as RequestInit),
        },
      );
      adapter = created.adapter;
      return created.installer === undefined ? [] : [created.installer];
    },
  });
  operator = await signIn(harness.key);
  their = await aTeam("theirs");
});
afterEach(async () => {
  await harness.close();
  await slack.stop();
});

async function signIn(key: string): Promise<string> {
  const answer = await call(harness, "/signin", { body: { key }, key: null });
  return answer.headers.get("set-cookie")?.split(";")[0] ?? "";
}

async function aTeam(name: string) {
  const { uid: teamId } = (await call(harness, "/api/v1/agent/teams", { body: { name } })).body;
  const person = { type: "user", display_name: name, administrator: true, team_uid: teamId };
  const { uid } = (await call(harness, "/api/v1/agent/principals", { body: person })).body;
  const request = { name: "first", scopes: ["admin"], principal_uid: uid };
  const { key } = (await call(harness, "/api/v1/agent/keys", { body: request })).body;
  return { teamId, cookie: await signIn(key) };
}

function visit(path: string, cookie: string): Promise<Answer> {
  return call(harness, path, { key: null, headers: { cookie } });
}

/** Begins at our page and agrees at Slack's. Returns the path to which Slack sends the browser back. */
async function agree(place: InstallPlace, cookie: string): Promise<string> {
  const begun = await visit(INSTALL, cookie);
  expect(begun.status).toBe(303);
  slack.oauth.codes.next = place;
  const agreed = await loopbackOnlyFetch(begun.headers.get("location") ?? "", { redirect: "manual" });
  return (agreed.headers.get("location") ?? "").slice(PUBLIC_URL.length);
}

async function install(place: InstallPlace, cookie: string): Promise<Answer> {
  return visit(await agree(place, cookie), cookie);
}

/** What the adapter makes of an event of a workspace, which may be covered by its organization. */
function translate(event: object, place: InstallPlace, type = "app_mention"): Promise<Translation> {
  const { organization, workspace } = place;
  const body = {
    ...eventEnvelope(workspace, slack.app, { type, ...event }, {}),
    ...(organization !== undefined && {
      enterprise_id: organization.id,
      authorizations: [
        {
          enterprise_id: organization.id,
          team_id: null,
          user_id: "U1",
          is_bot: true,
          is_enterprise_install: true,
        },
      ],
    }),
  };
  return adapter.translate({ ...anInboxEvent(), name: type, body: JSON.stringify(body) });
}

async function mention(place: InstallPlace, name: string): Promise<Translation> {
  const { appMention } = await slack.mention(place.workspace.user(name), { channel: "work", text: "fix it" });
  return translate(appMention, place);
}

async function listed() {
  return (await harness.storage.installations.list()).map(
    ({ enabled, externalId, name, problem, teamId }) => ({
      ...{ enabled, externalId, name, problem: problem !== undefined, teamId },
    }),
  );
}

describe("installing the app", () => {
  test("an administrator connects a workspace with the own team, and its events are read", async () => {
    const place = { workspace: slack.otherWorkspace };
    expect(await mention(place, "carol")).toMatchObject({ kind: "unconnected" });

    const page = await install(place, their.cookie);

    expect(page.text).toContain("The Slack workspace other is connected with your team.");
    const { teamId } = place.workspace;
    expect(await listed()).toEqual([
      { enabled: true, externalId: teamId, name: "other", problem: false, teamId: their.teamId },
    ]);
    expect(await mention(place, "carol")).toMatchObject({
      kind: "message",
      message: { installation: teamId, text: "fix it" },
    });
  });

  test("the tokens are sealed, and no list or audit entry has them", async () => {
    const place = { workspace: slack.otherWorkspace };
    await install(place, their.cookie);

    const stored = await installations.find("slack", [place.workspace.teamId]);
    const audit = await visit("/api/v1/agent/audit", their.cookie);
    const list = await visit("/api/v1/agent/installations", their.cookie);

    expect(await installations.listConnected("slack")).toEqual([
      { externalId: place.workspace.teamId, name: "other" },
    ]);
    expect(stored?.sealed).toMatch(/^v1\./);
    expect(audit.text).toContain("installation.created");
    for (const text of [JSON.stringify(stored), audit.text, list.text, harness.logged.join()]) {
      expect(text).not.toContain(place.workspace.botToken);
    }
    expect(audit.text + list.text).not.toContain(stored?.sealed);
  });

  test("a member may not, and a visitor signs in first", async () => {
    const member = await signIn(await harness.addUser("mia"));

    expect((await visit(INSTALL, member)).status).toBe(403);
    expect((await visit(`${INSTALL}/callback?code=1&state=2`, member)).status).toBe(403);
    const visitor = await visit(INSTALL, "");
    expect(visitor.headers.get("location")).toBe(`/signin?next=${encodeURIComponent(INSTALL)}`);
    const back = await call(harness, "/signin", { body: { key: harness.key, next: INSTALL }, key: null });
    expect(back.body).toEqual({ next: INSTALL });
  });

  test("a state is used once, by the person who began", async () => {
    const place = { workspace: slack.otherWorkspace };
    const ofOther = await agree(place, their.cookie);
    expect((await visit(ofOther, operator)).status).toBe(400);
    const invented = `${INSTALL}/callback?code=${new URLSearchParams(ofOther.split("?")[1]).get("code")}&state=x`;
    expect((await visit(invented, their.cookie)).status).toBe(400);
    expect(await listed()).toEqual([]);

    const mine = await agree(place, their.cookie);
    expect((await visit(mine, their.cookie)).status).toBe(200);
    expect((await visit(mine, their.cookie)).status).toBe(400);
  });

  test.each([
    ["the person refused", "error=access_denied"],
    ["there is no code", "state=x"],
  ])("if %s, nothing is installed", async (_name, query) => {
    const page = await visit(`${INSTALL}/callback?${query}`, their.cookie);

    expect(page.status).toBe(400);
    expect(page.text).toContain("Errand is not installed");
    expect(await listed()).toEqual([]);
  });

  test("a workspace that another team uses stays there", async () => {
    await harness.storage.installations.ensure("slack", slack.otherWorkspace.teamId);

    const page = await install({ workspace: slack.otherWorkspace }, their.cookie);

    expect(page.text).toContain("This workspace belongs to another team of this server.");
    expect(await listed()).toMatchObject([{ teamId: FIRST_TEAM }]);
    expect(await installations.isAny("slack")).toBe(false);
  });

  test("the workspace of a variable is enabled with its first message, although another one was connected before", async () => {
    await install({ workspace: slack.otherWorkspace }, their.cookie);
    const grid = { workspace: slack.workspace, organization: ORGANIZATION };
    await install(grid, their.cookie);
    await mention(grid, "alice");

    expect((await harness.storage.installations.ensure("slack", "T0VARIABLE")).enabled).toBe(true);
    expect((await harness.storage.installations.ensure("slack", "T0STRANGER")).enabled).toBe(false);
  });

  test("a workspace that was seen but is in use by nobody becomes that of the team", async () => {
    await harness.storage.installations.ensure("slack", "T0FIRST");
    await harness.storage.installations.ensure("slack", slack.otherWorkspace.teamId);

    await install({ workspace: slack.otherWorkspace }, their.cookie);

    expect(await listed()).toMatchObject([
      { externalId: "T0FIRST", teamId: FIRST_TEAM },
      { externalId: slack.otherWorkspace.teamId, teamId: their.teamId, enabled: true },
    ]);
  });
});

describe("two workspaces and an organization", () => {
  test("each is called with its own token, and belongs to its own team", async () => {
    const other = { workspace: slack.otherWorkspace };
    const grid = { workspace: slack.workspace, organization: ORGANIZATION };
    await install(other, their.cookie);
    await install(grid, operator);

    const [theirs, ours] = [await mention(other, "carol"), await mention(grid, "alice")];
    const messages = [theirs, ours].map((one) => (one.kind === "message" ? one.message : expect.fail()));
    for (const [index, message] of messages.entries()) {
      const thread = { id: "t1", installation: message.installation, key: message.key };
      const notice = { kind: "message", purpose: "reply", text: `Answer ${index}` } as const;
      await adapter.deliver({ id: `d${index}`, thread, notice, maybeShown: false });
      expect(await adapter.authorize(message)).toMatchObject({ allowed: true });
    }

    expect(slack.calls("chat.postMessage").map(({ args, teamId }) => [teamId, args.text])).toEqual([
      [other.workspace.teamId, expect.stringContaining("Answer 0")],
      [grid.workspace.teamId, expect.stringContaining("Answer 1")],
    ]);
    expect(slack.calls("users.info").map(({ args, teamId }) => [teamId, args.user])).toEqual([
      [other.workspace.teamId, slack.carol.id],
      [grid.workspace.teamId, slack.alice.id],
    ]);
    expect(await listed()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ externalId: other.workspace.teamId, teamId: their.teamId }),
        expect.objectContaining({ externalId: ORGANIZATION.id, teamId: FIRST_TEAM }),
        expect.objectContaining({ externalId: grid.workspace.teamId, teamId: FIRST_TEAM, enabled: true }),
      ]),
    );
    // Each team lists its own.
    const { body } = await visit("/api/v1/agent/installations", their.cookie);
    expect(body.installations).toMatchObject([{ external_id: other.workspace.teamId }]);
  });

  test("the removal of one leaves the other, and a new installation works", async () => {
    const other = { workspace: slack.otherWorkspace };
    const grid = { workspace: slack.workspace, organization: ORGANIZATION };
    await install(other, their.cookie);
    await install(grid, operator);
    await mention(grid, "alice");

    slack.uninstall(slack.otherWorkspace);
    expect(await translate({}, other, "app_uninstalled")).toMatchObject({
      kind: "removal",
      installations: [other.workspace.teamId],
    });

    expect(await mention(other, "carol")).toMatchObject({ kind: "unconnected" });
    expect(await mention(grid, "alice")).toMatchObject({ kind: "message" });
    await install(other, their.cookie);
    expect(await mention(other, "carol")).toMatchObject({ kind: "message" });

    slack.uninstall(slack.workspace);
    await translate({}, grid, "app_uninstalled");
    expect(await mention(grid, "alice")).toMatchObject({ kind: "unconnected" });
  });

  test("a removal that is read after the next installation removes nothing", async () => {
    const other = { workspace: slack.otherWorkspace };
    await install(other, their.cookie);

    await translate({}, other, "app_uninstalled");

    expect(await mention(other, "carol")).toMatchObject({ kind: "message" });
  });

  test("a token that ends soon is replaced, and the new one is stored", async () => {
    const other = { workspace: slack.otherWorkspace };
    slack.oauth.tokenSeconds = 60;
    await install(other, their.cookie);
    const before = (await installations.find("slack", [other.workspace.teamId]))?.sealed;
    const former = other.workspace.botToken;
    slack.oauth.tokenSeconds = 43_200;

    expect(await mention(other, "carol")).toMatchObject({ kind: "message" });

    expect(other.workspace.botToken).not.toBe(former);
    expect((await installations.find("slack", [other.workspace.teamId]))?.sealed).not.toBe(before);
  });
});

describe("a workspace that is not connected", () => {
  const other = () => ({ workspace: slack.otherWorkspace });
  const grid = () => ({ workspace: slack.workspace, organization: ORGANIZATION });

  /** Stores the events of a mention, and what came of them. Returns their ordering keys. */
  async function mentionUnread(place: InstallPlace, names: readonly string[]): Promise<readonly string[]> {
    const [name = ""] = names;
    const { appMention, message } = await slack.mention(place.workspace.user(name), {
      channel: "work",
      text: "fix it",
    });
    const keys: string[] = [];
    for (const event of [appMention, message]) {
      const translation = await translate(event, place, event.type);
      const { installation, organization, reason } =
        translation.kind === "unconnected" ? translation : expect.fail();
      const stored = anInboxEvent({ adapter: "slack", body: JSON.stringify(event), name: event.type });
      await harness.storage.inbox.put(stored);
      const unconnected = { adapter: "slack", externalId: installation, organizationId: organization };
      await harness.storage.inbox.complete({
        inboxId: stored.id,
        disposition: "failed",
        reason,
        unconnected,
      });
      keys.push(stored.orderingKey);
    }
    return keys;
  }

  const openOf = async (keys: readonly string[]) => {
    const open = await Promise.all(keys.map((key) => harness.storage.inbox.next(key)));
    return open.filter((event) => event !== undefined).length;
  };

  const unconnected = async (cookie: string) =>
    (await visit("/api/v1/agent/installations", cookie)).body.unconnected;

  test.each([
    ["of its own", other, "carol", other],
    ["of its organization", grid, "alice", grid],
  ])(
    "its messages are listed for operators, and taken up once by an installation %s",
    async (_name, from, name, to) => {
      const keys = await mentionUnread(from(), [name]);
      const { teamId } = from().workspace;

      expect(await openOf(keys)).toBe(0);
      expect(await unconnected(operator)).toEqual([
        {
          adapter: "slack",
          external_id: teamId,
          last_received_at: expect.any(String),
          install_url: `${PUBLIC_URL}${INSTALL}`,
        },
      ]);
      expect(await unconnected(their.cookie)).toBeUndefined();
      let woken = 0;
      pubsub.subscribe("jobs:inbox", () => {
        woken += 1;
      });

      await install(to(), operator);

      expect(await openOf(keys)).toBe(2);
      expect(woken).toBe(1);
      expect(await unconnected(operator)).toEqual([]);
      for (const key of keys) {
        const event = await harness.storage.inbox.next(key);
        await harness.storage.inbox.complete({ inboxId: event?.id ?? "", disposition: "replied" });
      }
      await install(to(), operator);
      expect(await openOf(keys)).toBe(0);
    },
  );

  test("an installation of another workspace takes up nothing, and neither do messages of more than an hour ago", async () => {
    const keys = await mentionUnread(other(), ["carol"]);
    await install({ workspace: slack.workspace }, operator);
    expect(await openOf(keys)).toBe(0);

    await withConnection(harness.databaseUrl, SESSION, async (client) => {
      await client.query("UPDATE inbox_events SET received_at = received_at - interval '61 minutes'");
    });
    await install(other(), their.cookie);

    expect(await openOf(keys)).toBe(0);
    expect(await unconnected(operator)).toEqual([]);
  });

  test("a message that was found without an installation while it was made is processed again", async () => {
    const stored = anInboxEvent({ adapter: "slack" });
    await harness.storage.inbox.put(stored);
    await install(other(), their.cookie);

    const unconnected = { adapter: "slack", externalId: other().workspace.teamId };
    const result = { inboxId: stored.id, disposition: "failed", unconnected } as const;
    await expect(harness.storage.inbox.complete(result)).rejects.toMatchObject({ retryable: true });

    expect(await openOf([stored.orderingKey])).toBe(1);
  });

  test("an organization takes its workspace away, and gives it back", async () => {
    await install(grid(), operator);
    await mention(grid(), "alice");
    const { teamId } = grid().workspace;

    const removal = await translate({ team_ids: [teamId] }, grid(), "team_access_revoked");

    expect(removal).toMatchObject({ kind: "removal", installations: [teamId] });
    expect(await installations.find("slack", [teamId])).toBeUndefined();
    expect(await installations.find("slack", [ORGANIZATION.id])).toBeDefined();
    expect(await listed()).toMatchObject([
      { externalId: ORGANIZATION.id, problem: false },
      { externalId: teamId, problem: true },
    ]);
    expect(await mention(grid(), "alice")).toMatchObject({ kind: "message" });
    expect(await listed()).toMatchObject([{ problem: false }, { externalId: teamId, problem: false }]);
  });
});
