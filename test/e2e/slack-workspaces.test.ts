import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { asRecord, type JsonRecord } from "../support/json.ts";
import type { PostedMessage, SlackEvent } from "../support/slack/slack-events.ts";
import type { ShownView, SlackUser, SlackWorkspace } from "../support/slack/slack-workspace.ts";
import { waitFor } from "../support/wait-for.ts";
import { Fixture, TEST_LIMIT_MS, WAIT_LIMIT_MS } from "./service-fixture.ts";

vi.setConfig({ testTimeout: TEST_LIMIT_MS });

const INSTALL = "/setup/slack/install";
const ORGANIZATION = { id: "E0GRID001", name: "Grid" };

/** A team of Errand with its workspace, and what nobody else may see. */
interface Side {
  readonly name: string;
  readonly workspace: SlackWorkspace;
  readonly user: SlackUser;
  readonly api: ApiClient;
  readonly organizationId?: string;
  readonly environmentId: string;
  readonly request: PostedMessage;
  readonly runId: string;
  readonly undecided: PostedMessage;
}

let fixture: Fixture;
let sides: readonly Side[];

beforeAll(async () => {
  fixture = await Fixture.open();
  const { slack } = fixture;
  await fixture.service.end("SIGTERM");
  await fixture.start({ SLACK_CLIENT_ID: slack.app.clientId, SLACK_CLIENT_SECRET: slack.app.clientSecret });
  const grid = await slack.addWorkspace("T0GRID001", "grid", "dave");
  const theirs = await aTeam("other");
  const ofGrid = await aTeam("grid");
  await install(theirs.key, slack.otherWorkspace);
  await install(ofGrid.key, grid, ORGANIZATION);
  sides = [
    await aSide({ name: "main", workspace: slack.workspace, user: slack.alice, api: fixture.api }),
    await aSide({ name: "other", workspace: slack.otherWorkspace, user: slack.carol, api: theirs.api }),
    await aSide({
      ...{ name: "grid", workspace: grid, user: grid.user("dave"), api: ofGrid.api },
      organizationId: ORGANIZATION.id,
    }),
  ];
}, TEST_LIMIT_MS);
afterAll(async () => {
  await fixture.close();
});

async function aTeam(name: string): Promise<{ readonly key: string; readonly api: ApiClient }> {
  const post = async (path: string, body: object) =>
    asRecord((await fixture.api.call("POST", `/agent/${path}`, body)).body);
  const { uid: team_uid } = await post("teams", { name });
  const person = { type: "user", display_name: `Admin of ${name}`, administrator: true, team_uid };
  const { uid } = await post("principals", person);
  const { key } = await post("keys", { name: "first", scopes: ["admin"], principal_uid: uid });
  return { key: String(key), api: createApiClient({ url: fixture.service.url, apiKey: String(key) }) };
}

/** As a browser does it: our page, Slack's page, and back. */
async function install(
  key: string,
  workspace: SlackWorkspace,
  organization?: { readonly id: string; readonly name: string },
): Promise<void> {
  const { service, slack } = fixture;
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ key });
  const signedIn = await fetch(`${service.url}/signin`, { method: "POST", headers, body });
  const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
  slack.oauth.codes.next = { workspace, ...(organization && { organization }) };
  let address = `${service.url}${INSTALL}`;
  let answer = await fetch(address, { headers: { cookie }, redirect: "manual" });
  for (let steps = 0; steps < 2; steps += 1) {
    address = answer.headers.get("location") ?? expect.fail(`${answer.status} ${await answer.text()}`);
    answer = await fetch(address, { headers: { cookie }, redirect: "manual" });
  }
  expect(await answer.text()).toContain("is connected with your team");
}

type Start = Pick<Side, "api" | "name" | "user" | "workspace"> & { readonly organizationId?: string };

/** Two environments of the team, a run of it that waits for an answer, and a request that waits for a choice. */
async function aSide(start: Start): Promise<Side> {
  const { api, name } = start;
  const environments = [];
  for (const part of ["one", "two"]) {
    const answer = await api.call("POST", "/agent/environments", { config: { name: `env-${name}-${part}` } });
    environments.push(String(asRecord(answer.body).uid));
  }
  const request = await mention(start, `env=env-${name}-one say secret-${name}`);
  const run = await waitFor(async () => (await api.listRuns()).find(({ state }) => state === "SUCCEEDED"), {
    what: `the run of ${name}`,
    timeoutMs: WAIT_LIMIT_MS,
  });
  const undecided = await mention(start, `think about secret-${name}`);
  const [environmentId = ""] = environments;
  return { ...start, environmentId, request, runId: run.run_id, undecided };
}

async function mention(from: Start, text: string): Promise<PostedMessage> {
  const { slack } = fixture;
  const { appMention, message, posted } = await slack.mention(from.user, { channel: "work", text });
  for (const event of [message, appMention]) {
    expect((await fixture.sendSlack(event, from)).status).toBe(200);
  }
  return posted;
}

/** What a reader of this side must never get from another one. */
const secretsOf = ({ name, runId, user, workspace }: Side): readonly string[] => [
  ...[`secret-${name}`, `env-${name}-two`, runId, user.id, workspace.teamId, workspace.botToken],
];

/** What Slack or a person in it can ask of Errand in the name of `mine` about `theirs`. */
const WAYS: readonly (readonly [string, (mine: Side, theirs: Side) => Promise<Response>])[] = [
  ...["runs", "status", "settings", "link", "doctor", "help", "stop", "retry", ""].map(
    (text) => [`/errand ${text}`, (mine: Side) => command(mine, text)] as const,
  ),
  ["a task with their environment", (mine, theirs) => command(mine, `env=env-${theirs.name}-one look`)],
  ["a task with the id of it", (mine, theirs) => command(mine, `env=${theirs.environmentId} look`)],
  ["the Home tab", (mine) => send(mine, { type: "app_home_opened", user: mine.user.id, tab: "home" })],
  ["the menu of the form", (mine) => search(mine, "errand_form_environment", "")],
  [
    "the menu of their question",
    async (mine, theirs) => search(mine, `errand_choose:${await askedOf(theirs)}`, "env"),
  ],
  ["Retry of their run", (mine, theirs) => press(mine, "errand_retry", theirs.runId)],
  ["Stop of their run", (mine, theirs) => press(mine, "errand_cancel", theirs.runId)],
  ["Files of their run", (mine, theirs) => press(mine, "errand_files", `${theirs.runId}|1`)],
  [
    "an answer to their question",
    async (mine, theirs) => press(mine, "errand_choose", `${await askedOf(theirs)}|${theirs.environmentId}`),
  ],
  [
    "a reply in a thread with the name of theirs",
    (mine, theirs) =>
      send(mine, { ...messageIn(mine, theirs), text: `<@${mine.workspace.botUserId}> status` }),
  ],
  [
    "the shortcut on a message with the name of theirs",
    (mine, theirs) =>
      fixture.slack.dialogs.sendShortcut(webhook(), {
        ...{ callbackId: "errand_send", user: mine.user, channel: "work" },
        message: { ts: itemOf(theirs).ts, user: mine.user.id, text: "The build is red." },
      }),
  ],
  ["a form with their environment", async (mine, theirs) => submit(mine, await formOf(mine), theirs)],
  ["the form that they opened", async (mine, theirs) => submit(mine, await formOf(theirs), theirs)],
  [
    "❌ on their request",
    (mine, theirs) =>
      send(mine, { type: "reaction_added", user: mine.user.id, reaction: "x", item: itemOf(theirs) }),
  ],
  [
    "the deletion of their request",
    (mine, theirs) => {
      const { channel, ts } = itemOf(theirs);
      const deletion = { subtype: "message_deleted", channel, deleted_ts: ts, ts: "9.9", event_ts: "9.9" };
      return send(mine, { type: "message", ...deletion });
    },
  ],
];

const itemOf = ({ request: { channel, ts } }: Side) => ({ type: "message", channel: channel.id, ts });

function messageIn({ user, workspace }: Side, theirs: Side) {
  const { channel, ts: thread_ts } = itemOf(theirs);
  const ts = `${Number(thread_ts) + 1}.000001`;
  return { type: "app_mention", channel, thread_ts, ts, event_ts: ts, user: user.id, team: workspace.teamId };
}

const webhook = () => `${fixture.service.url}/webhooks/slack`;

function send(side: Side, event: SlackEvent): Promise<Response> {
  return fixture.sendSlack(event, side);
}

function command({ user }: Side, text: string): Promise<Response> {
  return fixture.slack.sendSlashCommand(webhook(), { command: "/errand", text, user, channel: "work" });
}

function press({ request, user }: Side, actionId: string, value: string): Promise<Response> {
  const message = { channel: request.channel.id, ts: request.ts };
  return fixture.slack.sendButton(webhook(), { actionId, value, user, message });
}

function search({ request, user }: Side, actionId: string, words: string): Promise<Response> {
  const message = { channel: request.channel.id, ts: request.ts };
  return fixture.slack.sendMenuSearch(webhook(), { actionId, message, user, words });
}

async function formOf(side: Side): Promise<ShownView> {
  await command(side, "");
  const view = () => fixture.slack.dialogs.viewsOf(side.user).findLast(({ type }) => type === "modal");
  return waitFor(view, { what: "the form", timeoutMs: WAIT_LIMIT_MS });
}

function submit({ user }: Side, view: ShownView, { environmentId: environment }: Side): Promise<Response> {
  const values = { prompt: "say mine", environment };
  return fixture.slack.dialogs.sendSubmission(webhook(), { user, view, values });
}

/** The id of the event whose author was asked. */
async function askedOf({ api }: Pick<Side, "api">): Promise<string> {
  const { body } = await api.call("GET", "/agent/inbox?disposition=asked");
  const [event] = asRecord(body).events as readonly { readonly id: string }[];
  return event?.id ?? expect.fail("No question waits.");
}

test("each team lists its own runs, threads, events and installations, and no others", async () => {
  for (const mine of sides) {
    const { api, name, runId } = mine;
    expect(await (await search(mine, "errand_form_environment", "two")).text()).toContain(`env-${name}-two`);
    expect((await api.listRuns()).map(({ run_id: id }) => id)).toEqual([runId]);
    const lists = [
      "/agent/inbox?limit=100",
      "/agent/environments",
      "/agent/principals",
      "/agent/conversations",
    ];
    const text = JSON.stringify(
      await Promise.all(lists.map(async (path) => (await api.call("GET", path)).body)),
    );
    for (const theirs of sides.filter((one) => one !== mine)) {
      for (const secret of secretsOf(theirs)) {
        expect(text).not.toContain(secret);
      }
      expect((await api.call("GET", `/agent/runs/${theirs.runId}`)).status).toBe(404);
    }
  }
});

/** The run of a request with a file, which reads the file and makes an artifact. */
async function runWithFile(
  side: Side,
  file: JsonRecord,
): Promise<{ readonly id: string; readonly said: string }> {
  const { api, name, user } = side;
  const text = `env=env-${name}-one read attachments/${file.name}\nwrite artifacts/made.txt made-${name}`;
  const { appMention, message } = await fixture.slack.mention(user, { channel: "work", text });
  const known = (await api.listRuns()).map(({ run_id: id }) => id);
  await send(side, { ...message, subtype: "file_share", files: [file] });
  await send(side, { ...appMention, files: [file] });
  const isNew = ({ run_id: id, state }: { readonly run_id: string; readonly state: string }) =>
    !known.includes(id) && state === "SUCCEEDED";
  const { run_id: id } = await waitFor(async () => (await api.listRuns()).find(isNew), {
    what: `the run of ${name} with a file`,
    timeoutMs: WAIT_LIMIT_MS,
  });
  return { id, said: JSON.stringify(await api.events(id)) };
}

test("files of requests and of runs are read in their own workspace, and nowhere else", async () => {
  const { slack } = fixture;
  // The service knows Slack by the address of the gate, and sends tokens to no other one.
  const throughGate = (address: unknown) =>
    new URL(new URL(String(address)).pathname, fixture.slackGate.url).href;
  const files = sides.map(({ name, workspace }) => {
    const file = slack.addFile(`notes-${name}.txt`, "text/plain", Buffer.from(`bytes-${name}`), workspace);
    return { ...file, url_private_download: throughGate(file.url_private_download) };
  });
  for (const [index, mine] of sides.entries()) {
    const { id, said } = await runWithFile(mine, files[index] ?? {});
    // An event that names a file of another workspace.
    const theirs = (index + 1) % sides.length;
    const stolen = await runWithFile(mine, files[theirs] ?? {});

    expect(said).toContain(`bytes-${mine.name}`);
    expect(stolen.said).not.toContain(`bytes-${sides[theirs]?.name}`);
    const { artifacts } = await mine.api.getRun(id);
    const [made] = artifacts as readonly { readonly data: JsonRecord }[];
    const artifact = String(made?.data.artifact_uid);
    expect((await mine.api.call("GET", `/agent/artifacts/${artifact}`)).status).toBe(200);
    for (const { api } of sides.filter((one) => one !== mine)) {
      for (const path of [
        `/agent/artifacts/${artifact}`,
        `/agent/artifacts/${artifact}/download`,
        `/agent/runs/${id}/artifacts/${artifact}/download`,
        `/agent/runs/${id}/handoff/attachments`,
      ]) {
        expect((await api.call("GET", path)).status, path).toBe(404);
      }
    }
  }
  expect(new Set(slack.downloads.map(({ name, token }) => `${name} ${token}`))).toEqual(
    new Set(sides.map(({ name, workspace }) => `notes-${name}.txt ${workspace.botToken}`)),
  );
});

test.each(WAYS)("%s gives nothing of another team, and changes nothing there", async (_name, ask) => {
  for (const mine of sides) {
    for (const theirs of sides.filter((one) => one !== mine)) {
      const before = await stateOf(theirs);

      const text = await (await ask(mine, theirs)).text();

      await fixture.dispositions(20);
      for (const secret of secretsOf(theirs)) {
        expect(text).not.toContain(secret);
      }
      expect(await stateOf(theirs)).toEqual(before);
    }
  }
});

/** The runs of a side, and that its question still waits. */
async function stateOf({ api, runId }: Side) {
  const { state, updated_at: at } = await api.getRun(runId);
  return { state, at, asked: await askedOf({ api }), runs: (await api.listRuns()).length };
}

test("while Slack limits one workspace, the others are answered", async () => {
  const { slack } = fixture;
  const [main, other, grid] = sides as readonly [Side, Side, Side];
  for (const method of ["chat.postMessage", "users.info"]) {
    slack.faults.next({ method, kind: "429", retryAfterSeconds: 3_000 });
    await mention(other, "status");
    await waitFor(() => slack.calls(method).some(({ outcome }) => outcome === "429"), {
      what: `a refused ${method}`,
      timeoutMs: WAIT_LIMIT_MS,
    });
    for (const side of [main, grid]) {
      const { channel, ts } = await mention(side, "status");
      await waitFor(
        () => slack.threadMessages(channel.id, ts).some(({ text }) => text.includes("There is no run here")),
        {
          what: `the answer in ${side.name}`,
          timeoutMs: WAIT_LIMIT_MS,
        },
      );
    }
  }
});

test("nothing that was sent to a workspace has a word of another team", () => {
  for (const mine of sides) {
    const calls = fixture.slack.calls().filter(({ teamId }) => teamId === mine.workspace.teamId);
    const views = fixture.slack.dialogs.viewsOf(mine.user);
    expect(calls.length).toBeGreaterThan(10);
    expect(views.length).toBeGreaterThan(1);
    const text = JSON.stringify([calls, views]);
    expect(text).toContain(`secret-${mine.name}`);
    for (const secret of sides.flatMap((theirs) => (theirs === mine ? [] : secretsOf(theirs)))) {
      expect(text).not.toContain(secret);
    }
  }
});
