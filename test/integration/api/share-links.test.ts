import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PrincipalId, RunId } from "../../../src/core/ids.ts";
import { decideApproval } from "../../../src/core/runs/decide-approval.ts";
import { collectRoutes, namesOf } from "../../support/all-routes.ts";
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

async function share(body: object = {}, run: object = {}, key = harness.key): Promise<Shared> {
  const runId = await createRun(harness, run, { key });
  const { session_id: sessionId } = (await call(harness, `${RUNS}/${runId}`, { key })).body;
  const created = await call(harness, `${RUNS}/${runId}/share-links`, { body, key });
  if (created.status !== 201) {
    throw new Error(`No link: ${created.text}`);
  }
  return { runId, sessionId, linkId: created.body.id, path: created.body.url.slice(PUBLIC_URL.length), key };
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
  return call(harness, path, { ...options, key: null, headers: { cookie, ...options.headers } });
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
    expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
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
    expect(answers[0]?.text).toContain(`data-run-id="${shared.runId}"`);
    expect(answers[0]?.headers.get("referrer-policy")).toBe("no-referrer");
    expect(answers[2]?.body.events).not.toEqual([]);
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
    await harness.edit(refused.runId, (edit) => {
      edit.set({ approval: { policyId: "canary-1", reason: "canary-2" } });
      edit.record({ kind: "approval.requested", policyId: "canary-1", reason: "canary-2" });
      edit.moveTo("BLOCKED", { status: { message: "Waits for approval. canary-2" } });
    });
    const decidedBy = "canary-3" as PrincipalId;
    const decision = { approve: false, decidedBy, comment: "canary-4", name: "canary-5" };
    await harness.edit(refused.runId, (edit) => decideApproval(edit, decision));
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
      readers.map((tell) =>
        Promise.all([refused, failed].flatMap((shared) => parts.map((part) => tell(shared, part)))),
      ),
    );
    const stream = await watch(failed, await enter(failed));

    const texts = `${guests?.join("\n")}\n${JSON.stringify(stream.events)}`;

    expect(texts).not.toMatch(/canary|987654/);
    expect(texts).toContain("Done.");
    expect(JSON.parse(guests?.[4] ?? "")).toMatchObject({
      state: "FAILED",
      status_message: { message: "Budget exceeded", error_code: "budget_exceeded", retryable: false },
    });
    const kindsIn = (text = "") => JSON.parse(text).events.map(({ kind }: { kind: string }) => kind);
    expect(kindsIn(guests?.[5])).toEqual(kindsIn(members?.[5]));
    expect(stream.events.map(({ kind }) => kind)).toEqual(kindsIn(members?.[5]));
    const secrets = Array.from({ length: 9 }, (_, index) => `canary-${index + 1}`);
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
      "GET /agent/runs/:runId/conversation → 200",
      "GET /agent/runs/:runId/events → 200",
      "GET /agent/runs/:runId/timeline → 200",
      "GET /sessions/:id → 200",
    ]);
    expect((await opened(other)).toSorted()).toEqual([
      "GET /agent/runs/:runId → 404",
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
  ])("%s", async (how, end) => {
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
    expect((await call(harness, `${RUNS}/${runId}/share-links`)).body).toEqual({ share_links: [] });
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
