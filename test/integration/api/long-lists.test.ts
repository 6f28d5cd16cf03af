import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PrincipalId, TeamId } from "../../../src/core/basics/ids.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import { RECORDS_LENGTH_MAX, RECORDS_MAX } from "../../../src/core/team/records/record-limits.ts";
import { withConnection } from "../../../src/storage/connection.ts";
import { anEnvironment } from "../../support/environment-builders.ts";
import { aSchedule } from "../../support/rule-builders.ts";
import { call } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const ROOT = "/api/v1/agent";
const SCHEDULES = `${ROOT}/schedules`;
const SCHEDULE = { name: "Nightly", cron_schedule: "0 3 * * *", prompt: "Tidy up", enabled: false };

let harness: ApiHarness;
/** A schedule with which the schedules of the first team are too long together, as without a limit. */
const LAST_ID = randomUUID();
beforeAll(async () => {
  harness = await startHarness();
  await storeSchedule(randomUUID(), FIRST_TEAM, RECORDS_LENGTH_MAX - 100_000);
  await storeSchedule(LAST_ID, FIRST_TEAM, 200_000);
  await storeOthers(FIRST_TEAM, RECORDS_LENGTH_MAX);
});
afterAll(() => harness.close());

/** Stores an environment, a secret and an MCP server with texts of this length. */
async function storeOthers(teamId: TeamId, length: number): Promise<void> {
  const id = randomUUID();
  const { environments, mcpServers, secrets } = harness.storage;
  const stamps = { id, teamId, createdAt: new Date(), updatedAt: new Date() };
  const personId = randomUUID() as PrincipalId;
  await environments.add({ ...anEnvironment(id), teamId });
  await secrets.add({ ...stamps, ownerId: teamId, name: "LONG", sealed: "", editorId: personId });
  await mcpServers.add({ ...stamps, name: "long", config: {}, sealed: "", creatorId: personId });
  await lengthen(
    "environments SET config = config || jsonb_build_object('description', long.text)",
    id,
    length,
  );
  await lengthen("secrets SET sealed = long.text", id, length);
  await lengthen("mcp_servers SET config = jsonb_build_object('command', long.text)", id, length);
}

async function storeSchedule(id: string, teamId: TeamId, length: number): Promise<void> {
  await harness.storage.schedules.add(aSchedule({ id, teamId }));
  await lengthen("schedules SET prompt = long.text", id, length);
}

/** The database makes the text, because it takes seconds to send it. */
async function lengthen(assignment: string, id: string, length: number): Promise<void> {
  const text = `UPDATE ${assignment} FROM (SELECT repeat('x', $1::int) AS text) long WHERE id::text = $2`;
  const options = { applicationName: "errand tests", queryLimitMs: 30_000 };
  await withConnection(harness.databaseUrl, options, (client) => client.query(text, [length, id]));
}

test.each([
  ["schedules", "POST", SCHEDULES, SCHEDULE],
  ["environments", "POST", `${ROOT}/environments`, { config: { name: "Backend" } }],
  ["secrets", "PUT", `${ROOT}/secrets/TOKEN`, { value: "a value" }],
  ["MCP servers", "POST", `${ROOT}/mcp-servers`, { name: "wiki", config: { command: "wiki-mcp" } }],
])("a team whose %s are too long together gets no further one", async (kind, method, path, body) => {
  const { body: refusal, status } = await call(harness, path, { method, body });

  expect([status, refusal.code]).toEqual([400, "invalid_request"]);
  expect(refusal.detail).toBe(`The ${kind} of a team can have at most 16 MiB together.`);
});

test("a team has a limited number of records of one kind", async () => {
  const teamId = randomUUID() as TeamId;
  await harness.storage.teams.put({ id: teamId, name: "Many", createdAt: new Date(), sharing: "off" });
  const key = await harness.addUser("many", { teamId, scopes: ["settings:write", "runs:write"] });
  for (let stored = 1; stored < RECORDS_MAX; stored += 1) {
    await harness.storage.schedules.add(aSchedule({ id: randomUUID(), teamId }));
  }

  const last = await call(harness, SCHEDULES, { key, body: SCHEDULE });
  const refused = await call(harness, SCHEDULES, { key, body: SCHEDULE });
  const changed = await call(harness, `${SCHEDULES}/${last.body.id}`, {
    key,
    method: "PUT",
    body: { ...SCHEDULE, prompt: "Tidy up everything" },
  });

  expect([last.status, refused.status, changed.status]).toEqual([201, 400, 200]);
  expect(refused.body.detail).toBe(`The team has ${RECORDS_MAX} schedules already.`);
});

test("a team whose schedules are too long together can pause and shorten them, and then add others", async () => {
  const path = `${SCHEDULES}/${LAST_ID}`;

  const paused = await call(harness, `${path}/pause`, { method: "POST" });
  const shortened = await call(harness, path, { method: "PUT", body: SCHEDULE });
  const added = await call(harness, SCHEDULES, { body: SCHEDULE });

  expect([paused.status, shortened.status, added.status]).toEqual([200, 200, 201]);
});

test("concurrent requests together do not exceed the limit of a kind", async () => {
  const teamId = randomUUID() as TeamId;
  await harness.storage.teams.put({ id: teamId, name: "At once", createdAt: new Date(), sharing: "off" });
  const key = await harness.addUser("ann", { teamId, scopes: ["settings:write", "runs:write"] });
  // A further record has 3,000 to 5,000 characters, so there is room for one.
  await storeSchedule(randomUUID(), teamId, RECORDS_LENGTH_MAX - 6_000);
  await storeOthers(teamId, RECORDS_LENGTH_MAX - 6_000);
  const text = "x".repeat(3_000);
  const writes: readonly ((name: string) => Parameters<typeof call>)[] = [
    (name) => [harness, SCHEDULES, { key, body: { ...SCHEDULE, name, prompt: text } }],
    (name) => [harness, `${ROOT}/environments`, { key, body: { config: { name, setup_commands: [text] } } }],
    (name) => [harness, `${ROOT}/secrets/${name}`, { key, method: "PUT", body: { value: text } }],
    (name) => [
      harness,
      `${ROOT}/mcp-servers`,
      { key, body: { name, config: { command: "a", args: [text] } } },
    ],
  ];

  for (const write of writes) {
    const answers = await Promise.all(["A", "B"].map((name) => call(...write(name))));

    const accepted = answers.filter(({ status }) => status < 300);
    const refused = answers.filter(
      ({ body, status }) => status === 400 && /at most 16 MiB/.test(body.detail),
    );
    expect([accepted.length, refused.length]).toEqual([1, 1]);
  }
});

test("the long schedules of a team do not limit another team", async () => {
  const teamId = randomUUID() as TeamId;
  await harness.storage.teams.put({ id: teamId, name: "Others", createdAt: new Date(), sharing: "off" });
  const key = await harness.addUser("eve", { teamId });
  await storeSchedule(randomUUID(), FIRST_TEAM, RECORDS_LENGTH_MAX);

  const { status } = await call(harness, SCHEDULES, { key, body: SCHEDULE });

  expect(status).toBe(201);
});
