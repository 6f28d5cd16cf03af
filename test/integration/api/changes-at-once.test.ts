import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TeamId } from "../../../src/core/basics/ids.ts";
import type { ApiKey } from "../../../src/core/model/people/api-key.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import type { Storage } from "../../../src/core/ports/stores/storage.ts";
import { Database } from "../../../src/storage/database.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { waitFor } from "../../support/wait-for.ts";
import { anEndpoint } from "../../support/webhook-builders.ts";
import type { Answer } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";
import { PeopleCaller } from "./people-caller.ts";

let harness: ApiHarness;
let onlooker: Database;
beforeAll(async () => {
  harness = await startHarness();
  onlooker = new Database({ url: harness.databaseUrl, maxConnections: 1, log: SILENT_LOG });
});
afterAll(async () => {
  await onlooker.close();
  await harness.close();
});

const { aKey, aPrincipal, ask, patch, remove } = new PeopleCaller(() => harness);

const WAITING = `
  SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** Returns the answer to a request that arrives after `change` was made and before it is committed. */
async function duringChange(
  change: (stores: Storage) => Promise<unknown>,
  request: () => Promise<Answer>,
): Promise<Answer> {
  const { answer } = await harness.storage.atomically(async (stores) => {
    await change(stores);
    const answer = request();
    await waitFor(async () => (await onlooker.rows({ text: WAITING, values: [] })).length > 0, {
      what: "the request to wait for the change",
      timeoutMs: 4_000,
    });
    return { answer };
  });
  return answer;
}

describe("concurrent changes of a key", () => {
  const minutesAhead = (minutes: number) => new Date(harness.clock.now().getTime() + minutes * 60_000);
  const changed =
    (id: string, changes: Partial<ApiKey>) =>
    ({ keys }: Storage) =>
      keys.change(FIRST_TEAM, id, (key) => ({ ...key, ...changes }));

  test("a key that is renamed while it is revoked stays revoked and gets its new name", async () => {
    const { id, key } = await aKey();
    const revoked = changed(id, { revokedAt: harness.clock.now() });

    const renamed = await duringChange(revoked, () => patch(`/keys/${id}`, { name: "y" }));

    expect(renamed.body).toMatchObject({ name: "y", revoked_at: expect.any(String) });
    expect((await ask(`/keys/${id}`)).body).toEqual(renamed.body);
    expect((await ask("/whoami", { key })).status).toBe(401);
  });

  test("a key that is revoked while it is renamed is revoked and keeps its new name", async () => {
    const { id } = await aKey();

    await duringChange(changed(id, { name: "y" }), () => remove(`/keys/${id}`));

    expect((await ask(`/keys/${id}`)).body).toMatchObject({ name: "y", revoked_at: expect.any(String) });
  });

  test("a key that is renamed while it is replaced keeps the expiry of the replacement", async () => {
    const { id } = await aKey();
    const expiresAt = minutesAhead(5);

    const renamed = await duringChange(changed(id, { expiresAt }), () => patch(`/keys/${id}`, { name: "y" }));

    expect(renamed.body).toMatchObject({ name: "y", expires_at: expiresAt.toISOString() });
    expect((await ask(`/keys/${id}`)).body).toEqual(renamed.body);
  });

  test("a key that is revoked while it is rotated has no successor and stays revoked", async () => {
    const principal_uid = await aPrincipal();
    const { id } = await aKey({ principal_uid });
    const revokedAt = harness.clock.now();

    const rotated = await duringChange(changed(id, { revokedAt }), () =>
      ask(`/keys/${id}/rotate`, { body: { overlap_seconds: 60 } }),
    );

    const { keys } = (await ask(`/keys?principal=${principal_uid}`)).body;
    expect(rotated.status).toBe(400);
    expect(keys).toMatchObject([{ id, revoked_at: revokedAt.toISOString() }]);
  });

  test("a key that is rotated five times at once has one successor", async () => {
    const principal_uid = await aPrincipal();
    const { id } = await aKey({ principal_uid });

    const rotated = await Promise.all(
      [1, 2, 3, 4, 5].map(() => ask(`/keys/${id}/rotate`, { method: "POST" })),
    );

    expect(rotated.map(({ status }) => status).toSorted()).toEqual([201, 400, 400, 400, 400]);
    expect((await ask(`/keys?principal=${principal_uid}`)).body.keys).toHaveLength(2);
  });
});

test("a team cannot change an installation that moves to another team at the same moment", async () => {
  const [from, to] = [await aTeam(), await aTeam()];
  const principal_uid = await aPrincipal({ team_uid: from, administrator: true });
  const { key } = await aKey({ principal_uid, scopes: ["admin"] });
  const { id } = await harness.storage.installations.ensure("memory", randomUUID());
  await patch(`/installations/${id}`, { team_uid: from });
  await ask(`/installations/${id}`, { method: "PATCH", body: { team_uid: from }, key });

  const renamed = await duringChange(
    async ({ installations }) => {
      const installation = (await installations.lock(id)) ?? expect.fail("It is gone.");
      await installations.update({ ...installation, teamId: to });
    },
    () => ask(`/installations/${id}`, { method: "PATCH", body: { name: "mine" }, key }),
  );

  expect(renamed.status).toBe(404);
  const [handedOut] = await harness.storage.installations.list(to);
  expect(handedOut).toMatchObject({ id, teamId: to });
  expect(handedOut).not.toHaveProperty("name");
});

test("concurrent requests create no more webhooks than the limit", async () => {
  const teamId = await aTeam();
  const { key } = await aKey({
    principal_uid: await aPrincipal({ team_uid: teamId, administrator: true }),
    scopes: ["settings:write"],
  });
  for (let index = 0; index < 49; index += 1) {
    await harness.storage.webhooks.endpoints.add(anEndpoint({ teamId }));
  }

  const late = await duringChange(
    async ({ teams, webhooks }) => {
      await teams.lock(teamId);
      await webhooks.endpoints.add(anEndpoint({ teamId }));
    },
    () => ask("/webhooks", { body: { url: "https://receiver.example" }, key }),
  );

  expect([late.status, late.body.error]).toEqual([400, expect.stringMatching(/at most 50/)]);
  expect(await harness.storage.webhooks.endpoints.list(teamId)).toHaveLength(50);
});

async function aTeam(): Promise<TeamId> {
  return (await ask("/teams", { body: { name: randomUUID() } })).body.uid;
}
