import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../../src/app/system.ts";
import type { PrincipalId } from "../../../src/core/basics/ids.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import { Database } from "../../../src/storage/database.ts";
import { createPrismaStorage } from "../../../src/storage/prisma-storage.ts";
import { NO_JOBS } from "../../support/job-inserts.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { aPrincipal } from "../../support/run-builders.ts";
import { SILENT_PUBSUB } from "../../support/silent-pubsub.ts";
import { createTestDatabase, type TestDatabase } from "../../support/test-database.ts";

let testDatabase: TestDatabase;
let database: Database;
let storage: ReturnType<typeof createPrismaStorage>;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = new Database({ url: testDatabase.url, maxConnections: 4, log: SILENT_LOG });
  storage = createPrismaStorage({
    ...{ database, pubsub: SILENT_PUBSUB, clock: systemClock, jobInsert: NO_JOBS },
  });
});

afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

async function aStoredPrincipal(administrator: boolean): Promise<PrincipalId> {
  const id = randomUUID() as PrincipalId;
  await storage.people.put(aPrincipal({ id, teamId: FIRST_TEAM, administrator }));
  return id;
}

async function aStoredKey(principalId: PrincipalId): Promise<string> {
  const id = randomUUID();
  const key = { id, principalId, createdBy: principalId, name: "k", hint: "k…", scopes: ["admin"] } as const;
  await storage.keys.add({ ...key, createdAt: new Date() }, id);
  return id;
}

const rename = (stores: Pick<typeof storage, "people">, id: PrincipalId, displayName: string) =>
  stores.people.change(FIRST_TEAM, id, (principal) => ({ ...principal, displayName }));

test("a principal is changed while an administrator's key writes something else", async () => {
  const [administrator, member] = [await aStoredPrincipal(true), await aStoredPrincipal(false)];
  const key = await aStoredKey(administrator);

  const changed = await storage.atomically(async (stores) => {
    await stores.keys.requireAlive(key);
    // In another transaction, which would wait for the end of this one if it locked the administrators.
    return rename(storage, member, "Grace");
  });

  expect(changed?.displayName).toBe("Grace");
});

test("many writes with one administrator's key change principals without a conflict", async () => {
  const key = await aStoredKey(await aStoredPrincipal(true));
  const members = await Promise.all(Array.from({ length: 8 }, () => aStoredPrincipal(false)));
  let tries = 0;

  await Promise.all(
    members.map((id) =>
      storage.atomically(async (stores) => {
        tries += 1;
        await stores.keys.requireAlive(key);
        return rename(stores, id, "Grace");
      }),
    ),
  );

  expect(tries).toBe(members.length);
});

test("of two administrators who are dismissed at once, the second dismissal sees the first", async () => {
  const two = [await aStoredPrincipal(true), await aStoredPrincipal(true)] as const;
  const seen: number[] = [];

  await Promise.all(
    two.map((id) =>
      storage.people.change(FIRST_TEAM, id, (principal, administrators) => {
        seen.push(administrators.filter((each) => two.includes(each.id)).length);
        return { ...principal, administrator: false };
      }),
    ),
  );

  expect(seen).toEqual([2, 1]);
});
