import { createHash, randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../../src/app/system.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import { PrincipalJoins } from "../../../src/core/team/people/principal-joins.ts";
import { Database } from "../../../src/storage/database.ts";
import { createPrismaStorage } from "../../../src/storage/prisma-storage.ts";
import { NO_JOBS } from "../../support/job-inserts.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { SILENT_PUBSUB } from "../../support/silent-pubsub.ts";
import { createTestDatabase, type TestDatabase } from "../../support/test-database.ts";

const SUBJECTS = ["chat:T1:U1", "chat:E1:U1", "chat:T2:U1"] as const;

let testDatabase: TestDatabase;
let database: Database;
let storage: ReturnType<typeof createPrismaStorage>;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = new Database({ url: testDatabase.url, maxConnections: 6, log: SILENT_LOG });
  storage = createPrismaStorage({
    ...{ database, pubsub: SILENT_PUBSUB, clock: systemClock, jobInsert: NO_JOBS },
  });
});

afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

test("ten simultaneous messages of a person with two principals join them once, and the audit log has each change", async () => {
  const [here, whole, there] = SUBJECTS;
  const { people } = storage;
  const [stays, joined] = [
    await people.ensure(FIRST_TEAM, here, "Ada"),
    await people.ensure(FIRST_TEAM, there, "Ada"),
  ];
  const key = { id: randomUUID(), principalId: joined.id, createdBy: joined.id, name: "k", hint: "k…" };
  await storage.keys.add({ ...key, scopes: ["admin"], createdAt: new Date() }, randomUUID());
  const joins = new PrincipalJoins({
    storage,
    box: { open: String, seal: String },
    digest: (content) => createHash("sha256").update(content).digest("hex"),
    log: SILENT_LOG,
  });

  const found = await Promise.all(
    Array.from({ length: 10 }, async (_, index) => {
      const [subject, other] = index % 2 === 0 ? [here, there] : [there, here];
      const aliases = [whole, other];
      return joins.joinedOf(await people.ensure(FIRST_TEAM, subject, "Ada", aliases), { subject, aliases });
    }),
  );

  expect(new Set(found.filter(({ disabled }) => !disabled).map(({ id }) => id))).toEqual(new Set([stays.id]));
  const { entries } = await storage.auditLog.list({ teamId: FIRST_TEAM, limit: 50 });
  const changes = entries.filter(({ action }) => action.endsWith(".updated"));
  expect(new Set(changes.map(({ action, actor }) => `${action} by ${actor.uid}`))).toEqual(
    new Set([
      "identity_link.updated by adapter:chat",
      "key.updated by adapter:chat",
      "principal.updated by adapter:chat",
    ]),
  );
  expect(changes.find(({ action }) => action === "principal.updated")).toMatchObject({
    targetId: joined.id,
    after: { disabled: true, joined_into: stays.id },
  });
});
