import { createHash, randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { PrincipalId, RunId } from "../../../src/core/basics/ids.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import { decideApproval, findApproval } from "../../../src/core/runs/decide-approval.ts";
import { createPrismaBlobStore } from "../../../src/storage/blob-store.ts";
import { withConnection } from "../../../src/storage/connection.ts";
import { Database } from "../../../src/storage/database.ts";
import { collectRoutes, namesOf } from "../../support/all-routes.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { aPolicy } from "../../support/rule-builders.ts";
import { anApproval } from "../../support/run-builders.ts";
import { waitFor } from "../../support/wait-for.ts";
import { type Answer, call, createRun } from "./api-caller.ts";
import { type ApiHarness, PUBLIC_URL, startHarness } from "./api-harness.ts";
import { type EventReader, openStream } from "./event-reader.ts";

let harness: ApiHarness;
let routes: readonly string[];
beforeAll(async () => {
  routes = namesOf(
    await collectRoutes(async () => {
      harness = await startHarness({ limits: { heartbeatMs: 20, callerCheckMs: 20 } });
    }),
  );
});
afterAll(() => harness.close());

const RUNS = "/api/v1/agent/runs";

interface Shared {
  readonly runId: string;
  readonly sessionId: string;
  readonly linkId: string;
  /** The link's path and query. */
  readonly path: string;
  /** The key of the link's creator. */
  readonly key: string;
}

const SESSION = { applicationName: "errand tests", queryLimitMs: 30_000 } as const;

async function share(body: object = {}, run: object = {}, key = harness.key): Promise<Shared> {
  const runId = await createRun(harness, run, { key });
  const { session_id: sessionId } = (await call(harness, `${RUNS}/${runId}`, { key })).body;
  const created = await call(harness, `${RUNS}/${runId}/share-links`, { body, key });
  if (created.status !== 201) {
    throw new Error(`No link: ${created.text}`);
  }
  return { runId, sessionId, linkId: created.body.id, path: created.body.url.slice(PUBLIC_URL.length), key };
}

/** Adds a file as an agent leaves it, and returns its uid. */
async function addFile(runId: string, text: string): Promise<string> {
  const bytes = Buffer.from(text);
  const database = new Database({ url: harness.databaseUrl, maxConnections: 1, log: SILENT_LOG });
  const blobId = await createPrismaBlobStore(database, harness.clock).put(bytes);
  await database.close();
  const body = { type: "FILE", filePath: "a.md", fileName: "a.md", mimeType: "text/markdown" } as const;
  const file = { blobId, sizeBytes: bytes.length, hash: createHash("sha256").update(bytes).digest("hex") };
  await harness.edit(runId, (edit) => edit.addArtifact({ key: "a.md", body, file }));
  const [artifact] = await harness.storage.files.artifactsOf([runId as RunId]);
  return String(artifact?.id);
}

/** The cookies of a browser, by their path. */
type Jar = ReadonlyMap<string, string>;

function jarOf({ headers }: Answer): Jar {
  return new Map(
    headers.getSetCookie().map((line) => [/Path=([^;]+)/.exec(line)?.[1] ?? "", line.split(";")[0] ?? ""]),
  );
}

/** Sends a request as a browser does, with the cookies of that path only. */
function visit(path: string, jar: Jar, options: Parameters<typeof call>[2] = {}): Promise<Answer> {
  const cookies = Array.from(jar).filter(
    ([cookiePath]) => path === cookiePath || path.startsWith(`${cookiePath}/`),
  );
  const cookie = cookies.map(([, value]) => value).join("; ");
  return call(harness, path, {
    ...options,
    key: null,
    headers: { cookie, origin: PUBLIC_URL, ...options.headers },
  });
}

async function enter({ path }: Shared): Promise<Jar> {
  return jarOf(await visit(path, new Map()));
}

async function watch({ runId }: Shared, jar: Jar): Promise<EventReader> {
  const cookie = jar.get(`${RUNS}/${runId}`) ?? "";
  const stream = await openStream(harness, runId, { key: null, headers: { cookie }, query: "?follow=true" });
  await waitFor(() => stream.comments.length >= 2, { what: "two heartbeats" });
  return stream;
}

describe("a share link", () => {
  test("a share link opens the session by cookies for the addresses of that run, without its token", async () => {
    const shared = await share();

    const answer = await visit(shared.path, new Map());

    expect(shared.path).toMatch(new RegExp(`^/sessions/${shared.sessionId}\\?share=[A-Za-z0-9_-]{43}$`));
    expect([answer.status, answer.headers.get("location")]).toEqual([303, `/sessions/${shared.sessionId}`]);
    expect(answer.headers.get("referrer-policy")).toBe("same-origin");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const [token = ""] = shared.path.split("=").slice(-1);
    for (const line of answer.headers.getSetCookie()) {
      expect(line).toMatch(/^errand_share=[^;]+; Max-Age=6048\d\d; Path=[^;]+; HttpOnly; SameSite=Lax$/);
      expect(line).not.toContain(token);
    }
    expect([...jarOf(answer).keys()]).toEqual([`${RUNS}/${shared.runId}`, `/sessions/${shared.sessionId}`]);
  });

  test("a share link shows the page, the run, its events, its conversation and its timeline", async () => {
    const shared = await share({}, { team: false });
    const jar = await enter(shared);
    const run = `${RUNS}/${shared.runId}`;
    const json = { headers: { accept: "application/json" } };

    const answers = [
      await visit(`/sessions/${shared.sessionId}`, jar),
      await visit(run, jar),
      await visit(`${run}/events`, jar, json),
      await visit(`${run}/conversation`, jar),
      await visit(`${run}/timeline`, jar),
    ];

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(answers[0]?.text).toContain(`name="errand-run" content="${shared.runId}"`);
    expect(answers[0]?.headers.get("referrer-policy")).toBe("same-origin");
    expect(answers[2]?.body.events).not.toEqual([]);
  });

  test("a share link shows the changes of its run, and opens its files but no file of another run", async () => {
    const [shared, other] = [await share(), await share()];
    const jar = await enter(shared);
    const [own, foreign] = [await addFile(shared.runId, "made"), await addFile(other.runId, "secret")];
    const run = `${RUNS}/${shared.runId}`;

    const changes = await visit(`${run}/changes`, jar);
    const redirect = await visit(`${run}/artifacts/${own}/download`, jar);
    const file = await visit(redirect.headers.get("location") ?? "", jar);
    const refused = [
      await visit(`${run}/artifacts/${foreign}/download`, jar),
      await visit(`${RUNS}/${other.runId}/artifacts/${foreign}/download`, jar),
    ];

    expect([changes.status, changes.body.repositories]).toEqual([200, []]);
    expect([redirect.status, file.status, file.text]).toEqual([302, 200, "made"]);
    expect(refused.map(({ status }) => status)).toEqual([404, 401]);
  });

  test("a share link shows only the progress of the run", async () => {
    const servers = { a: { url: "https://x", headers: { authorization: "Bearer canary" } } };
    const config = { name: "n", base_prompt: "canary", mcp_servers: servers };
    const shared = await share({}, { config, metadata: { ticket: "canary" } });
    const { creator } = (await call(harness, `${RUNS}/${shared.runId}`)).body;
    const [person] = await harness.storage.people.getMany([creator.uid as PrincipalId]);
    if (person !== undefined) {
      await harness.storage.people.put({ ...person, email: "canary@example.com" });
    }

    const { body, text } = await visit(`${RUNS}/${shared.runId}`, await enter(shared));

    expect(text).not.toContain("canary");
    expect(body).toMatchObject({ prompt: "do it", agent: { name: "demo" }, agent_config: { name: "n" } });
    expect((await call(harness, `${RUNS}/${shared.runId}`)).body.creator.email).toBe("canary@example.com");
  });

  test("a share link hides decisions and their reasons, the cost and the worker", async () => {
    const [refused, failed] = [await share(), await share()];
    const [policyId, decidedBy] = [randomUUID(), randomUUID() as PrincipalId];
    await harness.edit(refused.runId, (edit) => {
      edit.requestApproval(anApproval({ policyId, reason: "canary-2", inputsHash: "canary-8" }));
      edit.moveTo("BLOCKED", { status: { message: "Waits for approval. canary-2" } });
    });
    const inputsHash = "canary-8";
    const decision = { approve: false, inputsHash, decidedBy, comment: "canary-4", name: "canary-5" };
    await harness.edit(refused.runId, (edit) =>
      decideApproval(edit, findApproval(edit, inputsHash), decision),
    );
    await harness.edit(failed.runId, (edit) => {
      edit.moveTo("PENDING", { reason: "canary-6" });
      edit.record({ kind: "attempt.started", attempt: 1, worker: "canary-7" });
      edit.record({ kind: "workspace.stored", checkpoint: "canary-8" });
      edit.record({ kind: "agent.usage", used: 1, size: 2, costUsd: 0.987654 });
      edit.record({ kind: "agent.other", name: "usage", data: { cost: "canary-9" } });
      edit.warn("canary-11");
      const usage = { inputTokens: 1, outputTokens: 987_654, totalTokens: 987_655 };
      edit.record({ kind: "turn.ended", stopReason: "end_turn", answer: "Done.", usage });
      const message = "The budget of this run is used up: 0.987654 of 0.9 US dollars.";
      edit.moveTo("FAILED", { status: { message, errorCode: "budget_exceeded", retryable: false } });
    });
    const accept = { accept: "application/json" };
    const readers = [
      async ({ runId }: Shared, part: string) =>
        (await call(harness, `${RUNS}/${runId}${part}`, { headers: accept })).text,
      async (shared: Shared, part: string) =>
        (await visit(`${RUNS}/${shared.runId}${part}`, await enter(shared), { headers: accept })).text,
    ];
    const parts = ["", "/events", "/conversation", "/timeline"];
    const [members, guests] = await Promise.all(
      readers.map((read) =>
        Promise.all([refused, failed].flatMap((shared) => parts.map((part) => read(shared, part)))),
      ),
    );
    const stream = await watch(failed, await enter(failed));
    await stream.until(8);

    const texts = `${guests?.join("\n")}\n${JSON.stringify(stream.events)}`;

    expect(texts).not.toMatch(/canary|987654/);
    expect([policyId, decidedBy].filter((id) => texts.includes(id))).toEqual([]);
    expect(texts).toContain("Done.");
    expect(JSON.parse(guests?.[4] ?? "")).toMatchObject({
      state: "FAILED",
      status_message: { message: "Budget exceeded", error_code: "budget_exceeded", retryable: false },
    });
    const kindsIn = (text = "") => JSON.parse(text).events.map(({ kind }: { kind: string }) => kind);
    expect(kindsIn(guests?.[5])).toEqual(kindsIn(members?.[5]));
    expect(stream.events.map(({ kind }) => kind)).toEqual(kindsIn(members?.[5]));
    const canaries = [2, 4, 5, 6, 7, 8, 9].map((number) => `canary-${number}`);
    const secrets = [policyId, decidedBy, ...canaries];
    expect(secrets.filter((secret) => members?.join("\n").includes(secret))).toEqual(secrets);
    expect(members?.join("\n")).toContain("987654");
  });

  test("a share link opens no other route and no other run", async () => {
    const [shared, other] = [await share(), await share()];
    const cookie = (await enter(shared)).get(`${RUNS}/${shared.runId}`) ?? "";
    const ids = (url: string, { runId, sessionId }: Shared) =>
      url
        .replace(/^\/agent/, "/api/v1/agent")
        .replace("/sessions/:id", `/sessions/${sessionId}`)
        .replace("/runs/:id", `/runs/${runId}`)
        .replace(":runId", runId)
        .replace(":conversationId", randomUUID())
        .replace(/:\w+/g, randomUUID());
    const opened = async (of: Shared): Promise<string[]> => {
      const open: string[] = [];
      for (const name of routes) {
        const [method = "", url = ""] = name.split(" ");
        const [path, headers] = [ids(url, of), { cookie, accept: "application/json" }];
        const send = (requestHeaders: Record<string, string>) =>
          harness.server.inject({ method: method as "GET", url: path, headers: requestHeaders });
        const [guest, anonymous] = [await send(headers), await send({ accept: "application/json" })];
        if (guest.statusCode !== anonymous.statusCode) {
          open.push(`${name} → ${guest.statusCode}`);
        }
      }
      return open;
    };

    expect((await opened(shared)).toSorted()).toEqual([
      "GET /agent/runs/:runId → 200",
      "GET /agent/runs/:runId/artifacts/:uid/download → 404",
      "GET /agent/runs/:runId/changes → 200",
      "GET /agent/runs/:runId/conversation → 200",
      "GET /agent/runs/:runId/events → 200",
      "GET /agent/runs/:runId/timeline → 200",
      "GET /sessions/:id → 200",
    ]);
    expect((await opened(other)).toSorted()).toEqual([
      "GET /agent/runs/:runId → 404",
      "GET /agent/runs/:runId/artifacts/:uid/download → 404",
      "GET /agent/runs/:runId/changes → 404",
      "GET /agent/runs/:runId/conversation → 404",
      "GET /agent/runs/:runId/events → 404",
      "GET /agent/runs/:runId/timeline → 404",
      "GET /sessions/:id → 404",
    ]);
  });

  test("a changed share link, or one used for another session, opens nothing", async () => {
    const [shared, other] = [await share(), await share()];
    const [, token = ""] = shared.path.split("?share=");

    const answers = [
      await visit(`${shared.path}x`, new Map()),
      await visit(`/sessions/${shared.sessionId}?share=`, new Map()),
      await visit(`/sessions/${other.sessionId}?share=${token}`, new Map()),
      await visit(`/sessions/${shared.sessionId}?share=${harness.key}`, new Map()),
      await visit(`/sessions/x?share=${token}`, new Map()),
    ];

    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    expect(answers.flatMap(({ headers }) => headers.getSetCookie())).toEqual([]);
    expect((await visit(`/sessions/${shared.sessionId}`, new Map())).status).toBe(303);
  });

  test("a share link does not affect a user who is signed in", async () => {
    const shared = await share();
    const signedIn = await call(harness, "/signin", { body: { key: harness.key }, key: null });
    const session = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
    const jar = new Map([...(await enter(shared)), ["", session]]);

    const list = await call(harness, RUNS, { key: null, headers: { cookie: session } });
    await call(harness, `${RUNS}/${shared.runId}/share-links/${shared.linkId}`, { method: "DELETE" });
    const stillSeen = [
      await visit(`/sessions/${shared.sessionId}`, jar),
      await visit(`${RUNS}/${shared.runId}`, jar),
      await visit(shared.path, jar),
    ];

    expect([list.status, ...stillSeen.map(({ status }) => status)]).toEqual([200, 200, 200, 200]);
  });
});

describe("the end of a share link, which ends its streams too", () => {
  const LIFE_MS = 7 * 24 * 60 * 60 * 1_000;

  test.each<[string, (shared: Shared) => Promise<unknown>]>([
    [
      "when it is deleted",
      ({ linkId, runId }) => call(harness, `${RUNS}/${runId}/share-links/${linkId}`, { method: "DELETE" }),
    ],
    [
      "when its time is over",
      async () => {
        harness.clock.aheadMs += LIFE_MS;
      },
    ],
    [
      "when its maker is disabled",
      async ({ runId }) => {
        const [link] = await harness.storage.shareLinks.list(runId as RunId);
        const [maker] = await harness.storage.people.getMany(link === undefined ? [] : [link.creatorId]);
        if (maker !== undefined) {
          await harness.storage.people.put({ ...maker, disabled: true });
        }
      },
    ],
    ["when the key that made it is revoked", ({ key }) => harness.revoke(key)],
  ])("a share link ends, and its streams too, %s", async (how, end) => {
    const shared = await share({}, {}, await harness.addUser(how));
    const jar = await enter(shared);
    const stream = await watch(shared, jar);
    const wasOpen = !stream.isOver;

    await end(shared);
    await stream.untilOver();
    const answers = [
      await visit(`${RUNS}/${shared.runId}`, jar),
      await visit(`/sessions/${shared.sessionId}`, jar),
      await visit(shared.path, new Map()),
    ];

    expect([wasOpen, ...answers.map(({ status }) => status)]).toEqual([true, 401, 303, 404]);
    await reviveAdministrator();
  });

  async function reviveAdministrator(): Promise<void> {
    const people = await harness.storage.people.list(
      (await harness.storage.teams.list())[0]?.id ?? expect.fail(),
    );
    for (const one of people.filter(({ disabled }) => disabled)) {
      await harness.storage.people.put({ ...one, disabled: false });
    }
  }
});

describe("share links of a run", () => {
  test("share links are listed without their tokens and can be removed", async () => {
    const { linkId, path, runId } = await share({ expires_in_seconds: 60 });
    const [, token = ""] = path.split("?share=");

    const list = await call(harness, `${RUNS}/${runId}/share-links`);
    const remove = () => call(harness, `${RUNS}/${runId}/share-links/${linkId}`, { method: "DELETE" });
    const removed = [await remove(), await remove()];

    expect(list.body.share_links).toMatchObject([{ id: linkId }]);
    const [{ created_at, expires_at }] = list.body.share_links;
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(60_000);
    expect(list.text).not.toContain(token);
    expect(removed.map(({ status }) => status)).toEqual([200, 404]);
    expect((await call(harness, `${RUNS}/${runId}/share-links`)).body).toMatchObject({ share_links: [] });
  });

  test("a share link is created by an empty request, and once per Idempotency-Key", async () => {
    const runId = await createRun(harness);
    const make = (headers: Record<string, string>) =>
      call(harness, `${RUNS}/${runId}/share-links`, { method: "POST", headers });

    const [plain, first, again] = [
      await make({ "content-type": "application/json" }),
      await make({ "idempotency-key": "link" }),
      await make({ "idempotency-key": "link" }),
    ];

    expect([plain, first, again].map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(again.body).toEqual(first.body);
    expect((await call(harness, `${RUNS}/${runId}/share-links`)).body.share_links).toHaveLength(2);
  });

  test.each([0, -1, 1.5, 366 * 86_400 + 1, "60"])(
    "a share link with a lifetime of %j seconds is refused",
    async (expires_in_seconds) => {
      const runId = await createRun(harness);

      const answer = await call(harness, `${RUNS}/${runId}/share-links`, { body: { expires_in_seconds } });

      expect([answer.status, answer.body.issues[0].path]).toEqual([400, "expires_in_seconds"]);
    },
  );
});

const TEAM = `/api/v1/agent/teams/${FIRST_TEAM}`;

async function allow(sharing: "off" | "viewer" | "editor"): Promise<void> {
  const { status, text } = await call(harness, TEAM, { method: "PATCH", body: { sharing } });
  expect([status, text]).toEqual([200, expect.stringContaining(`"sharing":"${sharing}"`)]);
}

/** Sends a follow-up as the page of a guest does. */
function followUp({ runId }: Pick<Shared, "runId">, jar: Jar, headers: Record<string, string> = {}) {
  return visit(`${RUNS}/${runId}/followups`, jar, { body: { message: "And more." }, headers });
}

describe("the members of a new share link", () => {
  test("a share link is for viewing unless the request says otherwise, and shows its access", async () => {
    const { runId } = await share({ access: null });

    const { body } = await call(harness, `${RUNS}/${runId}/share-links`);

    expect(body.share_links).toMatchObject([{ access: "VIEWER" }]);
  });

  test("a share link expires when the request says", async () => {
    const runId = await createRun(harness);
    const expires_at = new Date(harness.clock.now().getTime() + 60_000).toISOString();

    const { body, status } = await call(harness, `${RUNS}/${runId}/share-links`, { body: { expires_at } });

    expect([status, body.expires_at]).toEqual([201, expires_at]);
  });

  test.each<[string, object, string]>([
    ["both times", { expires_at: "2099-01-01T00:00:00Z", expires_in_seconds: 60 }, "expires_at"],
    ["a time in the past", { expires_at: "2020-01-01T00:00:00Z" }, "expires_at"],
    ["a time after more than a year", { expires_at: "2099-01-01T00:00:00Z" }, "expires_at"],
    ["a time that is none", { expires_at: "soon" }, "expires_at"],
    ["an unknown access", { access: "OWNER" }, "access"],
  ])("a share link with %s is refused", async (_what, body, path) => {
    const runId = await createRun(harness);

    const answer = await call(harness, `${RUNS}/${runId}/share-links`, { body });

    expect([answer.status, answer.body.issues[0].path]).toEqual([400, path]);
  });

  test.each(["off", "viewer"] as const)(
    "a share link for editing is refused by a team that shares %s",
    async (sharing) => {
      await allow(sharing);
      const runId = await createRun(harness);

      const { body, status } = await call(harness, `${RUNS}/${runId}/share-links`, {
        body: { access: "EDITOR" },
      });

      expect([status, body.code]).toEqual([403, "feature_not_available"]);
    },
  );

  test("requests at the same time create no more share links than allowed", async () => {
    const { linkId, runId } = await share();
    const [link] = await harness.storage.shareLinks.list(runId as RunId);
    for (let index = 1; index < 98 && link !== undefined; index += 1) {
      await harness.storage.shareLinks.add({ ...link, id: randomUUID() }, randomUUID());
    }

    const answers = await Promise.all(
      [1, 2, 3, 4].map(() => call(harness, `${RUNS}/${runId}/share-links`, { body: {} })),
    );

    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, 400, 400]);
    expect(linkId).toBe(link?.id);
  });
});

describe("the guest of a share link for editing", () => {
  beforeEach(() => allow("editor"));
  afterEach(() => allow("off"));

  test("a guest sends a follow-up, whose author is a guest", async () => {
    const shared = await share({ access: "EDITOR" });
    const jar = await enter(shared);

    const page = await visit(`/sessions/${shared.sessionId}`, jar);
    const { body, status } = await followUp(shared, jar);

    expect(page.text).toContain('name="errand-visitor" content="editor"');
    expect([status, body.state]).toEqual([200, "QUEUED"]);
    const run = await harness.storage.runs.find({ id: shared.runId as RunId });
    expect(run?.othersWrote).toBe(true);
    const accept = { accept: "application/json" };
    const { events } = (await call(harness, `${RUNS}/${shared.runId}/events`, { headers: accept })).body;
    expect(events.at(-1)).toMatchObject({ kind: "followup.received", message: "And more." });
    expect(JSON.stringify(events.at(-1))).toContain('"guest"');
  });

  test.each([
    [
      "the team does not share for editing any more",
      "teams SET sharing = 'viewer'",
      "teams SET sharing = 'editor'",
    ],
    ["the link has expired", "share_links SET expires_at = now()", undefined],
    ["the key of the link was revoked", "api_keys SET revoked_at = now()", "api_keys SET revoked_at = NULL"],
    [
      "the creator of the link is disabled",
      "principals SET disabled = true",
      "principals SET disabled = false",
    ],
  ])(
    "nothing is stored for a guest when %s, although the request was allowed before",
    async (_, change, undo) => {
      const shared = await share({ access: "EDITOR" });
      const update = (text: string) =>
        withConnection(harness.databaseUrl, SESSION, (client) => client.query(`UPDATE ${text}`));
      const write = () =>
        harness.edit(shared.runId, (edit) => {
          edit.attach({ shareLinkId: shared.linkId });
          edit.warn("A guest wrote.");
        });
      const allowed = await write();
      await update(change);

      const refused = await write().catch((error: unknown) => error);

      if (undo !== undefined) {
        await update(undo);
      }
      expect(allowed.warnings).toEqual(["A guest wrote."]);
      expect(refused).toMatchObject({ code: "not_authorized" });
    },
  );

  test("a follow-up of a guest's page comes from the web app", async () => {
    const shared = await share({ access: "EDITOR" });
    await followUp(shared, await enter(shared));
    await call(harness, `${RUNS}/${shared.runId}/followups`, { body: { message: "From a program." } });

    const { followups } = (await call(harness, `${RUNS}/${shared.runId}/followups`)).body;

    expect(followups.map(({ source }: { source: string }) => source)).toEqual(["WEB_APP", "API"]);
  });

  test("a repeated follow-up of a guest with an Idempotency-Key is sent once", async () => {
    const shared = await share({ access: "EDITOR" });
    const jar = await enter(shared);

    const [first, again] = [
      await followUp(shared, jar, { "idempotency-key": "one" }),
      await followUp(shared, jar, { "idempotency-key": "one" }),
    ];

    expect(again.body).toEqual(first.body);
    expect(again.headers.get("idempotent-replay")).toBe("true");
  });

  test("a guest may only view when the link is for viewing or the team stops sharing for editing", async () => {
    const [viewing, editing] = [await share(), await share({ access: "EDITOR" })];
    const jars = [await enter(viewing), await enter(editing)] as const;
    await allow("viewer");

    const answers = [await followUp(viewing, jars[0]), await followUp(editing, jars[1])];
    const page = await visit(`/sessions/${editing.sessionId}`, jars[1]);

    expect(answers.map(({ status }) => status)).toEqual([401, 401]);
    expect([page.status, page.text.includes('name="errand-visitor" content="viewer"')]).toEqual([200, true]);
  });

  test("a follow-up that a page of another site sends in the name of a guest is refused", async () => {
    const shared = await share({ access: "EDITOR" });
    const jar = await enter(shared);

    const answers = [
      await followUp(shared, jar, { "sec-fetch-site": "cross-site" }),
      await followUp(shared, jar, { "sec-fetch-site": "same-site" }),
      await followUp(shared, jar, { origin: "https://evil.example" }),
      await followUp(shared, jar, { "sec-fetch-site": "same-origin" }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 200]);
  });

  test("a guest can do nothing else, neither to this run nor to another one", async () => {
    const [shared, other] = [await share({ access: "EDITOR" }), await share()];
    const cookie = (await enter(shared)).get(`${RUNS}/${shared.runId}`) ?? "";
    const send = (path: string, body: object = {}) =>
      call(harness, `${RUNS}/${path}`, { key: null, headers: { cookie, origin: PUBLIC_URL }, body });

    const answers = [
      await send(`${shared.runId}/cancel`),
      await send(`${shared.runId}/retry`),
      await send(`${shared.runId}/approval`, { approve: true, inputs_hash: "none" }),
      await send(`${shared.runId}/permissions/p`, { option_id: "allow" }),
      await send(`${shared.runId}/share-links`),
      await send(`${other.runId}/followups`, { message: "x" }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 404]);
  });

  test.each([
    [
      "yes",
      { permissionId: "p", title: "May I?", options: [{ optionId: "a", name: "yes", kind: "allow_once" }] },
    ],
  ] as const)("the word %s of a guest answers no question and no approval", async (message, permission) => {
    const [asking, waiting] = [await share({ access: "EDITOR" }), await share({ access: "EDITOR" })];
    await harness.edit(asking.runId, (edit) => {
      edit.moveTo("PENDING");
      edit.moveTo("CLAIMED");
      edit.moveTo("INPROGRESS");
      edit.set({ permission: { ...permission, askedAt: edit.now } });
      edit.moveTo("BLOCKED");
    });
    await harness.edit(waiting.runId, (edit) => {
      edit.set({ approval: anApproval() });
      edit.moveTo("BLOCKED");
    });

    const answers = [];
    for (const shared of [asking, waiting]) {
      const path = `${RUNS}/${shared.runId}/followups`;
      answers.push(await visit(path, await enter(shared), { body: { message } }));
    }

    expect(answers.map(({ body }) => [body.state, typeof body.followup_id])).toEqual([
      ["BLOCKED", "string"],
      ["BLOCKED", "string"],
    ]);
    const { permission: open } = (await harness.storage.runs.find({ id: asking.runId as RunId })) ?? {};
    expect(open).toMatchObject(permission);
  });

  test("the policies apply to a guest as to the creator of the link", async () => {
    const key = await harness.addUser("inviter");
    const uid = (await call(harness, "/api/v1/agent/whoami", { key })).body.principal.uid;
    const policy = aPolicy({ effect: "deny", match: { actions: ["follow_up"], principals: [uid] } });
    await harness.storage.policies.add(policy);
    const shared = await share({ access: "EDITOR" }, {}, key);

    const answer = await followUp(shared, await enter(shared));

    expect([answer.status, answer.body.code]).toEqual([403, "not_authorized"]);
    await harness.storage.policies.remove(policy.teamId, policy.id);
  });
});

describe("a new run with session_sharing", () => {
  afterEach(() => allow("off"));

  function create(access: "VIEWER" | "EDITOR", headers: Record<string, string> = {}) {
    const config = { session_sharing: { public_access: access } };
    return call(harness, RUNS, { body: { prompt: "x", config }, headers });
  }

  async function linksOf(runId: string) {
    return (await call(harness, `${RUNS}/${runId}/share-links`)).body.share_links;
  }

  test.each([
    ["viewer", "VIEWER"],
    ["editor", "VIEWER"],
    ["editor", "EDITOR"],
  ] as const)("a team that shares %s gets an address for %s", async (sharing, access) => {
    await allow(sharing);

    const { body } = await create(access);

    expect(body).not.toHaveProperty("ignored");
    const page = await visit(body.share_url.slice(PUBLIC_URL.length), new Map());
    expect(page.status).toBe(303);
    expect(await linksOf(body.run_id)).toMatchObject([{ access }]);
    const item = (await call(harness, `${RUNS}/${body.run_id}`)).body;
    expect(item.session_link).toBe(`${PUBLIC_URL}/sessions/${item.session_id}`);
    expect(item.agent_config.session_sharing).toEqual({ public_access: access });
    expect(item).not.toHaveProperty("share_url");
  });

  test("a private run in the name of another member is shared too, although the caller does not see it", async () => {
    await allow("viewer");
    const principal = { type: "user", display_name: "Mira" };
    const { uid } = (await call(harness, "/api/v1/agent/principals", { body: principal })).body;
    const config = { session_sharing: { public_access: "VIEWER" } };
    const other = { ...principal, display_name: "Root", administrator: true };
    const { body: admin } = await call(harness, "/api/v1/agent/principals", { body: other });
    const keyBody = { name: "x", scopes: ["admin"], principal_uid: admin.uid };
    const { key } = (await call(harness, "/api/v1/agent/keys", { body: keyBody })).body;

    const { body, status } = await call(harness, RUNS, {
      body: { prompt: "x", config, team: false, on_behalf_of: uid },
      key,
    });

    expect(status).toBe(200);
    expect((await visit(body.share_url.slice(PUBLIC_URL.length), new Map())).status).toBe(303);
  });

  test.each([
    ["off", "VIEWER"],
    ["off", "EDITOR"],
    ["viewer", "EDITOR"],
  ] as const)(
    "a team that shares %s shares nothing for %s, and the answer says so",
    async (sharing, access) => {
      await allow(sharing);

      const { body, headers, status } = await create(access);

      expect([status, body.ignored]).toEqual([200, ["config.session_sharing"]]);
      expect(headers.get("errand-ignored")).toBe("config.session_sharing");
      expect(body).not.toHaveProperty("share_url");
      expect(await linksOf(body.run_id)).toEqual([]);
    },
  );

  test("a retry is not shared, and the answer says so", async () => {
    await allow("viewer");
    const { run_id: id } = (await create("VIEWER")).body;

    const { body, headers } = await call(harness, `${RUNS}/${id}/retry`, { method: "POST" });

    expect([body.ignored, headers.get("errand-ignored")]).toEqual([
      ["config.session_sharing"],
      "config.session_sharing",
    ]);
    expect(await linksOf(body.run_id)).toEqual([]);
  });

  test("a repeat with the same Idempotency-Key gets the same address, which is not readable in the database", async () => {
    await allow("viewer");
    const headers = { "idempotency-key": "shared run" };

    const [first, again] = [await create("VIEWER", headers), await create("VIEWER", headers)];

    expect(again.body).toEqual(first.body);
    expect(await linksOf(first.body.run_id)).toHaveLength(1);
    const run = await harness.storage.runs.find({ id: first.body.run_id });
    const stored = await harness.storage.idempotentResponses.find(
      run?.creatorId ?? expect.fail(),
      "runs.create shared run",
    );
    const [, token = ""] = first.body.share_url.split("share=");
    expect(token).not.toBe("");
    expect(JSON.stringify(stored)).not.toContain(token);
  });

  test("a run that continues the conversation is shared only if its own request says so", async () => {
    await allow("viewer");
    const { body } = await create("VIEWER");
    const { conversation_id } = (await call(harness, `${RUNS}/${body.run_id}`)).body;

    const next = await call(harness, RUNS, { body: { prompt: "More", conversation_id } });

    expect(next.body).not.toHaveProperty("share_url");
    expect((await call(harness, `${RUNS}/${next.body.run_id}`)).body.agent_config).not.toHaveProperty(
      "session_sharing",
    );
  });

  test("only an administrator sets what a team shares", async () => {
    const key = await harness.addUser("no administrator", { scopes: ["settings:write"] });

    const answers = [
      await call(harness, TEAM, { method: "PATCH", key, body: { sharing: "editor" } }),
      await call(harness, TEAM, { method: "PATCH", body: { sharing: "everything" } }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([403, 400]);
    expect((await call(harness, TEAM)).body.sharing).toBe("off");
  });
});
