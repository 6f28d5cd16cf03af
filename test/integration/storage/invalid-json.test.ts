import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/app/system.ts";
import type { RunId } from "../../../src/core/basics/ids.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import type { Run } from "../../../src/core/model/runs/run.ts";
import type { Artifact } from "../../../src/core/model/workspaces/artifact.ts";
import { Database } from "../../../src/storage/database.ts";
import { createPrismaStorage } from "../../../src/storage/prisma-storage.ts";
import { anEnvironment } from "../../support/environment-builders.ts";
import { NO_JOBS } from "../../support/job-inserts.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { aPolicy, aRoutingRule, aSchedule } from "../../support/rule-builders.ts";
import { aChange, anOrigin, aReply, aRun, aThread } from "../../support/run-builders.ts";
import { SILENT_PUBSUB } from "../../support/silent-pubsub.ts";
import { createTestDatabase, type TestDatabase } from "../../support/test-database.ts";
import { anEndpoint } from "../../support/webhook-builders.ts";

/** Stands in each broken value. No error may show it. */
const CONTENT = "private words";
const APPROVAL = { id: "2", policyId: "1", reason: "r", inputsHash: "", inputs: [], authorIds: [] };

let testDatabase: TestDatabase;
let database: Database;
let storage: ReturnType<typeof createPrismaStorage>;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = new Database({ url: testDatabase.url, maxConnections: 2, log: SILENT_LOG });
  storage = createPrismaStorage({
    database,
    pubsub: SILENT_PUBSUB,
    clock: systemClock,
    jobInsert: NO_JOBS,
  });
});

afterAll(async () => {
  await database?.close();
  await testDatabase?.drop();
});

async function storedRun(): Promise<Run> {
  const person = await storage.people.ensure(FIRST_TEAM, `memory:${randomUUID()}`, "Ada");
  const origin = anOrigin({ creatorId: person.id, createdAt: new Date() });
  const events = [{ turn: 0, body: { kind: "run.created", state: "QUEUED" } }] as const;
  return storage.runs.create(origin, aChange(aRun(origin), { events }));
}

async function execute(statement: string, values: readonly unknown[]): Promise<void> {
  await database.query((client) => client.$executeRawUnsafe(statement, ...values));
}

const RUN_VALUES: readonly (readonly [path: string, value: unknown])[] = [
  ["config.harness.type", { harness: { type: [CONTENT] } }],
  ["config.mcp_servers.docs.args.0", { mcp_servers: { docs: { args: [{ said: CONTENT }] } } }],
  ["metadata.ticket", { ticket: [CONTENT] }],
  ["provenance.config_layers.harness", { config_layers: { harness: CONTENT } }],
  ["skill_snapshot.name", { description: CONTENT }],
  ["status_message.message", { message: [CONTENT] }],
  ["permission.options", { permissionId: "1", title: CONTENT }],
  ["approval.approved", { ...APPROVAL, approved: CONTENT }],
];

test("a priority that an older release stored without using it is read as normal", async () => {
  const { id } = await storedRun();
  const config = JSON.stringify({ priority: { level: 5 }, mine: 1 });
  await execute("UPDATE runs SET config = $2::jsonb WHERE id = $1::uuid", [id, config]);

  expect((await storage.runs.find({ id }))?.config).toEqual({ priority: "normal", mine: 1 });
});

describe("a run whose JSON column does not fit is an error that names table, id and path:", () => {
  test.each(RUN_VALUES)(
    "a run with an invalid JSON column is an error that names table, id and path: %s",
    async (path, value) => {
      const { id } = await storedRun();
      const [column = ""] = path.split(".");
      await execute(`UPDATE runs SET ${column} = $2::jsonb WHERE id = $1::uuid`, [id, JSON.stringify(value)]);

      const reading = storage.runs.find({ id });

      await expect(reading).rejects.toEqual(
        new Error(`The row ${id} of the table runs is not valid at ${path}.`),
      );
    },
  );
});

const OTHER_ROWS: readonly (readonly [
  place: string,
  value: unknown,
  make: () => Promise<{ id: string; read: () => Promise<unknown> }>,
])[] = [
  [
    "environments at config.network",
    { name: "a", repositories: [], setupCommands: [], network: CONTENT },
    async () => {
      const { id } = anEnvironment(randomUUID().slice(0, 22));
      await storage.environments.add(anEnvironment(id));
      return { id, read: () => storage.environments.find(FIRST_TEAM, id) };
    },
  ],
  [
    "schedules at config.name",
    { name: [CONTENT] },
    async () => {
      const schedule = aSchedule();
      await storage.schedules.add(schedule);
      return { id: schedule.id, read: () => storage.schedules.find(FIRST_TEAM, schedule.id) };
    },
  ],
  [
    "schedules at metadata.ticket",
    { ticket: [CONTENT] },
    async () => {
      const schedule = aSchedule();
      await storage.schedules.add(schedule);
      return { id: schedule.id, read: () => storage.schedules.find(FIRST_TEAM, schedule.id) };
    },
  ],
  [
    "policies at match.actions.0",
    { actions: [CONTENT] },
    async () => {
      const policy = aPolicy();
      await storage.policies.add(policy);
      return { id: policy.id, read: () => storage.policies.find(FIRST_TEAM, policy.id) };
    },
  ],
  [
    "routing_rules at match.text",
    { text: CONTENT },
    async () => {
      const rule = aRoutingRule();
      await storage.routingRules.add(rule);
      return { id: rule.id, read: () => storage.routingRules.find(FIRST_TEAM, rule.id) };
    },
  ],
  [
    "routing_rules at config.budget",
    { budget: CONTENT },
    async () => {
      const rule = aRoutingRule();
      await storage.routingRules.add(rule);
      return { id: rule.id, read: () => storage.routingRules.find(FIRST_TEAM, rule.id) };
    },
  ],
  [
    "webhook_endpoints at secrets.0.expiresAt",
    [{ sealed: CONTENT, expiresAt: CONTENT }],
    async () => {
      const endpoint = anEndpoint();
      await storage.webhooks.endpoints.add(endpoint);
      return { id: endpoint.id, read: () => storage.webhooks.endpoints.find(FIRST_TEAM, endpoint.id) };
    },
  ],
  [
    "artifacts at body.url",
    { type: "PULL_REQUEST", branch: CONTENT },
    async () => {
      const run = await storedRun();
      const at = new Date();
      const body = { type: "PULL_REQUEST", url: "https://host.example/1", branch: "b" } as const;
      const made = {
        id: randomUUID(),
        runId: run.id,
        key: "1",
        version: 1,
        turn: 1,
        createdAt: at,
        updatedAt: at,
      };
      const artifact: Artifact = { ...made, body };
      await storage.runs.change(run.id, (aggregate) => aChange(aggregate.run, { artifacts: [artifact] }));
      return { id: artifact.id, read: () => storage.files.artifactsOf([run.id]) };
    },
  ],
];

describe("another row whose JSON column does not fit is an error that names table, id and path:", () => {
  test.each(OTHER_ROWS)(
    "a row with an invalid JSON column is an error that names table, id and path: %s",
    async (place, value, make) => {
      const [table = "", path = ""] = place.split(" at ");
      const [column = ""] = path.split(".");
      const { id, read } = await make();
      const statement = `UPDATE ${table} SET ${column} = $2::jsonb WHERE id::text = $1`;
      await execute(statement, [id, JSON.stringify(value)]);

      await expect(read()).rejects.toEqual(
        new Error(`The row ${id} of the table ${table} is not valid at ${path}.`),
      );
    },
  );

  test("outbox_deliveries at notice.purpose", async () => {
    const run = await storedRun();
    const thread = aThread();
    const notices = [{ threadId: thread.id, notice: aReply("Hello") }];
    const binding = { thread, expected: undefined };
    await storage.runs.change(run.id, (aggregate) => aChange(aggregate.run, { binding, notices }));
    const value = JSON.stringify({ kind: "message", purpose: CONTENT, text: CONTENT });
    await execute("UPDATE outbox_deliveries SET notice = $2::jsonb WHERE thread_id = $1::uuid", [
      thread.id,
      value,
    ]);

    const taking = storage.outbox.take(thread.id);

    await expect(taking).rejects.toThrow(
      /^The row \S+ of the table outbox_deliveries is not valid at notice\.purpose\.$/,
    );
  });
});

describe("an event", () => {
  const broken: readonly (readonly [path: string, body: unknown])[] = [
    ["body", [CONTENT]],
    ["body.kind", { text: CONTENT }],
    ["body.to", { kind: "run.state", from: "QUEUED", to: { said: CONTENT } }],
  ];

  test.each(broken)(
    "an event that does not fit at %s is an error that names run, number and path",
    async (path, body) => {
      const { id } = await storedRun();
      await setEvent(id, body);

      const reading = storage.runs.readEvents(id, 0, 10);

      const message = `The row ${id}, 1 of the table run_events is not valid at ${path}.`;
      await expect(reading).rejects.toEqual(new Error(message));
    },
  );

  test("an event of a kind that only a later version knows is read as it is", async () => {
    const { id } = await storedRun();
    await setEvent(id, { kind: "later.kind", said: CONTENT });

    const [event] = await storage.runs.readEvents(id, 0, 10);

    expect(event?.body).toEqual({ kind: "later.kind", said: CONTENT });
  });

  async function setEvent(id: RunId, body: unknown): Promise<void> {
    await execute("UPDATE run_events SET body = $2::jsonb WHERE run_id = $1::uuid", [
      id,
      JSON.stringify(body),
    ]);
  }
});

test("members of JSON columns that this version does not know are kept", async () => {
  const { id } = await storedRun();
  const config = {
    later: { a: [1] },
    harness: { type: "demo", later: true },
    mcp_servers: { a: { url: "u", later: 1 } },
  };
  const provenance = { later: "x", config_layers: { harness: "request" } };
  const approval = { ...APPROVAL, later: [CONTENT] };
  await execute(
    "UPDATE runs SET config = $2::jsonb, provenance = $3::jsonb, approval = $4::jsonb WHERE id = $1::uuid",
    [id, ...[config, provenance, approval].map((each) => JSON.stringify(each))],
  );

  const changed = await storage.runs.change(id, ({ run }) => aChange(run));

  expect(changed).toMatchObject({ config, provenance, approval });
  expect(await storage.runs.find({ id })).toMatchObject({ config, provenance, approval });
});
