import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { TeamId } from "../../../src/core/basics/ids.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";
import { PeopleCaller } from "./people-caller.ts";

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const { aKey, aPrincipal, ask, patch, remove } = new PeopleCaller(() => harness);

describe("a new team", () => {
  test("an operator creates a team's administrator and first key, and the team is its own from then on", async () => {
    const team = await ask("/teams", { body: { name: "Research" } });
    const uid = await aPrincipal({ administrator: true, team_uid: team.body.uid });
    const first = await aKey({ scopes: ["admin"], principal_uid: uid });

    const key = first.key;
    const whoami = await ask("/whoami", { key });
    const own = await ask("/principals", { key });
    const again = await ask("/keys", { body: { name: "x", principal_uid: uid } });
    const run = await ask("/runs", { body: { prompt: "ours" }, key });

    expect(team.status).toBe(201);
    expect(whoami.body).toMatchObject({
      team: { name: "Research" },
      is_administrator: true,
      is_operator: false,
    });
    expect(own.body.principals.map((one: { uid: string }) => one.uid)).toEqual([uid]);
    expect(again.status).toBe(404);
    expect((await ask(`/runs/${run.body.run_id}`)).status).toBe(404);
    expect((await ask("/keys")).body.keys.map(({ id }: { id: string }) => id)).not.toContain(first.id);
    expect((await ask("/teams", { key })).body.teams).toEqual([team.body]);
    expect((await ask("/teams")).body.teams).toContainEqual(team.body);
  });

  test("the name of a team is unique", async () => {
    await ask("/teams", { body: { name: "Twice" } });

    const answer = await ask("/teams", { body: { name: "Twice" } });

    expect([answer.status, answer.body.issues]).toEqual([
      400,
      [{ path: "name", pointer: "/name", message: "another team has this name" }],
    ]);
  });

  test("concurrent requests with one Idempotency-Key create one team", async () => {
    const make = () => ask("/teams", { body: { name: "Eager" }, headers: { "idempotency-key": "eager" } });

    const answers = await Promise.all([make(), make(), make()]);

    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(answers.map(({ body }) => body.uid)).size).toBe(1);
  });
});

describe("a principal", () => {
  test("the email of a principal is visible only to administrators and to the principal", async () => {
    const uid = await aPrincipal({ email: "ada@example.com", display_name: "Ada L." });
    const { key } = await aKey({ scopes: ["settings:read"], principal_uid: uid });
    const other = await harness.addUser("curious", { scopes: ["settings:read"] });

    const emails = await Promise.all(
      [harness.key, key, other].map(
        async (caller) => (await ask(`/principals/${uid}`, { key: caller })).body.email,
      ),
    );
    const list = await ask("/principals", { key: other });

    expect(emails).toEqual(["ada@example.com", "ada@example.com", undefined]);
    expect(list.text).not.toContain("ada@example.com");
    expect(list.text).toContain("Ada L.");
  });

  test("disabling a principal keeps its runs and ends its keys at once", async () => {
    const uid = await aPrincipal({ type: "service_account" });
    const { key } = await aKey({ scopes: ["runs:write"], principal_uid: uid });
    const run = await ask("/runs", { body: { prompt: "x" }, key });

    const disabled = await remove(`/principals/${uid}`);
    const refused = await ask("/whoami", { key });
    await patch(`/principals/${uid}`, { disabled: false });

    expect([disabled.body, refused.status]).toEqual([{ success: true }, 401]);
    expect((await ask(`/runs/${run.body.run_id}`)).body.creator).toMatchObject({
      uid,
      type: "service_account",
    });
    expect((await ask("/whoami", { key })).status).toBe(200);
  });

  test("the last administrator of a team stays administrator", async () => {
    const { uid } = (await ask("/whoami")).body.principal;

    const answers = [
      await patch(`/principals/${uid}`, { administrator: false }),
      await patch(`/principals/${uid}`, { disabled: true }),
      await remove(`/principals/${uid}`),
    ];

    for (const { status, body } of answers) {
      expect([status, body.code, body.retryable]).toEqual([400, "invalid_request", false]);
    }
  });

  test.each([
    [{ type: "robot", display_name: "x" }, "type"],
    [{ type: "user" }, "display_name"],
    [{ type: "user", display_name: "x", email: "no address" }, "email"],
    [{ type: "user", display_name: "x", photo_url: "javascript:alert(1)" }, "photo_url"],
  ])("a principal with %j is not created", async (body, path) => {
    const answer = await ask("/principals", { body });

    expect([answer.status, answer.body.issues[0].path]).toEqual([400, path]);
  });
});

describe("an external account", () => {
  test("an external account is linked to a principal and unlinked again", async () => {
    const subject = `memory:${randomUUID()}`;
    const before = await harness.storage.people.ensure(FIRST_TEAM, subject, "mira-gh");
    const uid = await aPrincipal({ display_name: "Mira" });

    const linked = await ask("/identity-links", { body: { subject, principal_uid: uid } });
    const list = await ask("/identity-links");
    const author = await harness.storage.people.ensure(FIRST_TEAM, subject, undefined);
    const unlinked = await remove(`/identity-links/${linked.body.id}`);
    const fresh = await harness.storage.people.ensure(FIRST_TEAM, subject, "mira-gh");

    expect([linked.status, linked.body]).toEqual([
      201,
      {
        id: expect.any(String),
        subject,
        adapter: "memory",
        principal_uid: uid,
        created_at: expect.any(String),
      },
    ]);
    expect(list.body.links).toContainEqual(linked.body);
    expect(list.text).not.toContain("errand:administrator");
    expect([author.id, unlinked.body]).toEqual([uid, { success: true }]);
    expect([before.id, uid]).not.toContain(fresh.id);
    expect((await ask(`/principals/${before.id}`)).body.disabled).toBe(true);
  });

  test.each(["", "no colon", "Memory:x", "memory:", "memory:a b", "errand:administrator"])(
    "an external account is not called %j",
    async (subject) => {
      const { uid } = (await ask("/whoami")).body.principal;

      const answer = await ask("/identity-links", { body: { subject, principal_uid: uid } });

      expect([answer.status, answer.body.issues[0].path]).toEqual([400, "subject"]);
    },
  );
});

test("an installation is renamed, switched off and moved to another team", async () => {
  const { id } = await harness.storage.installations.ensure("memory", randomUUID());
  const team = await ask("/teams", { body: { name: "Field" } });

  const changed = await patch(`/installations/${id}`, { name: "Acme", enabled: false });
  const moved = await patch(`/installations/${id}`, { team_uid: team.body.uid });
  const list = await ask("/installations");

  expect(changed.body).toMatchObject({ name: "Acme", enabled: false, team_uid: FIRST_TEAM });
  expect(moved.body).toEqual({ ...changed.body, team_uid: team.body.uid });
  expect(list.body.installations).toContainEqual(moved.body);
});

describe("an installation that is assigned to a team with an administrator", () => {
  let id: string;
  let team_uid: string;
  /** The key of the team's administrator. */
  let key: string;
  beforeEach(async () => {
    ({ id } = await harness.storage.installations.ensure("memory", randomUUID()));
    team_uid = (await ask("/teams", { body: { name: randomUUID() } })).body.uid;
    const chief = { team_uid, type: "user", display_name: "Mira", administrator: true };
    const principal_uid = (await ask("/principals", { body: chief })).body.uid;
    const first = { principal_uid, name: "first", scopes: ["admin"] };
    key = (await ask("/keys", { body: first })).body.key;
  });

  const patchAs = (asKey: string | undefined, body: object) =>
    ask(`/installations/${id}`, { method: "PATCH", body, ...(asKey === undefined ? {} : { key: asKey }) });

  test("the installation stays where it is until the team accepts it", async () => {
    const offered = await patchAs(undefined, { team_uid });
    await harness.storage.installations.ensure("memory", offered.body.external_id);
    const seen = await ask("/installations", { key });
    const accepted = await patchAs(key, { team_uid, enabled: true });

    expect(offered).toMatchObject({
      status: 200,
      body: { team_uid: FIRST_TEAM, offered_team_uid: team_uid },
    });
    expect(seen.body.installations).toEqual([offered.body]);
    expect(accepted).toMatchObject({ status: 200, body: { team_uid, enabled: true } });
    expect(accepted.body).not.toHaveProperty("offered_team_uid");
    expect((await ask("/installations", { key })).body.installations).toEqual([accepted.body]);
  });

  test("a team changes nothing of an installation that is only offered to it, and sees no other", async () => {
    const before = await patchAs(key, { team_uid });
    await patchAs(undefined, { team_uid });
    const renamed = await patchAs(key, { name: "Ours" });
    await patchAs(undefined, { team_uid: FIRST_TEAM });
    const after = await patchAs(key, { team_uid });

    expect([before.status, renamed.status, after.status]).toEqual([404, 403, 404]);
    expect(await harness.storage.installations.listOffered(team_uid as TeamId)).toEqual([]);
  });

  test("an operator disables the installation of a team and cannot enable it again", async () => {
    await patchAs(undefined, { team_uid });
    await patchAs(key, { team_uid, enabled: true });

    expect((await patchAs(undefined, { enabled: true })).status).toBe(200);
    expect((await patchAs(undefined, { enabled: false })).body).toMatchObject({ enabled: false });
    expect((await patchAs(undefined, { enabled: true })).status).toBe(403);
    expect((await patchAs(key, { enabled: true })).body).toMatchObject({ enabled: true });
  });
});
