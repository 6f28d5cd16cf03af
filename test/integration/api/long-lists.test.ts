import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PrincipalId, TeamId } from "../../../src/core/ids.ts";
import { FIRST_TEAM } from "../../../src/core/people/team.ts";
import { RECORDS_LENGTH_MAX } from "../../../src/core/team-records/require-room.ts";
import { anEnvironment } from "../../support/environment-builders.ts";
import { aSchedule } from "../../support/rule-builders.ts";
import { call } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const ROOT = "/api/v1/agent";
const SCHEDULES = `${ROOT}/schedules`;
const LONG = "x".repeat(RECORDS_LENGTH_MAX);
const SCHEDULE = { name: "Nightly", cron_schedule: "0 3 * * *", prompt: "Tidy up", enabled: false };

let harness: ApiHarness;
/** A schedule that was stored before there was a limit. */
const long = aSchedule({ id: randomUUID(), teamId: FIRST_TEAM, prompt: LONG });
beforeAll(async () => {
  harness = await startHarness();
  const { environments, mcpServers, schedules, secrets } = harness.storage;
  const stamps = { id: randomUUID(), teamId: FIRST_TEAM, createdAt: new Date(), updatedAt: new Date() };
  const personId = randomUUID() as PrincipalId;
  await schedules.add(long);
  const environment = anEnvironment("long");
  await environments.add({ ...environment, config: { ...environment.config, description: LONG } });
  await secrets.add({ ...stamps, ownerId: FIRST_TEAM, name: "LONG", sealed: LONG, editorId: personId });
  await mcpServers.add({
    ...stamps,
    name: "long",
    config: { command: LONG },
    sealed: "",
    creatorId: personId,
  });
});
afterAll(() => harness.close());

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

test("a team whose schedules are too long together can pause and shorten them, and then add others", async () => {
  const path = `${SCHEDULES}/${long.id}`;

  const paused = await call(harness, `${path}/pause`, { method: "POST" });
  const shortened = await call(harness, path, { method: "PUT", body: SCHEDULE });
  const added = await call(harness, SCHEDULES, { body: SCHEDULE });

  expect([paused.status, shortened.status, added.status]).toEqual([200, 200, 201]);
});

test("the long schedules of a team do not limit another team", async () => {
  const teamId = randomUUID() as TeamId;
  await harness.storage.teams.put({ id: teamId, name: "Others", createdAt: new Date(), sharing: "off" });
  const key = await harness.addUser("eve", { teamId });
  await harness.storage.schedules.add(aSchedule({ id: randomUUID(), teamId: FIRST_TEAM, prompt: LONG }));

  const { status } = await call(harness, SCHEDULES, { key, body: SCHEDULE });

  expect(status).toBe(201);
});
