import { afterAll, beforeAll, expect, test } from "vitest";
import type { TeamId } from "../../../src/core/basics/ids.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import { BUILTIN_POLICIES } from "../../../src/core/model/policies/builtin-policies.ts";
import { anInboxEvent } from "../../support/run-builders.ts";
import { waitFor } from "../../support/wait-for.ts";
import { call } from "./api-caller.ts";
import {
  type AuthorizationHarness,
  addressOf,
  type Caller,
  cellsOf,
  eachOf,
  hasPlace,
  otherThan,
  startAuthorizationHarness,
} from "./authorization-harness.ts";
import { MANAGER } from "./authorization-objects.ts";
import { ROUTES } from "./authorization-table.ts";

/** The query of each list that returns all objects of all creators. */
const QUERIES: Readonly<Record<string, string>> = {
  "GET /agent/runs": "?limit=500",
  "GET /agent/tasks": "?limit=500",
  "GET /agent/inbox": "?limit=500",
  "GET /agent/events": "?after=start&limit=500",
  "GET /agent/usage": "?group_by=creator&group_by=environment",
};
/** These lists are about the installation, or have no ids. */
const OF_NO_TEAM = [
  "GET /api/v1/networking/egress-ranges",
  "GET /agent/models",
  "GET /agent/catalogue",
  "GET /agent/connected-self-hosted-workers",
  "GET /agent/quotas",
];
const ONE_BY_ADDRESS = "GET /agent/run-by-external-reference";
/** Every team has the same built-in policies. */
const SHARED: ReadonlySet<string> = new Set(BUILTIN_POLICIES.map(({ id }) => id));
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

let harness: AuthorizationHarness;
beforeAll(async () => {
  harness = await startAuthorizationHarness();
  harness.harness.skillLibrary.put("acme/api", { ".agents/skills/deploy/SKILL.md": "Deploy it." });
});
afterAll(() => harness.close());

test("every list shows a team its own objects and nothing of another team", async () => {
  const { admin, operator, stranger } = harness;
  const [ours, theirs] = [await oneOfEach(admin), await oneOfEach(stranger)];

  await untilLogged(admin, ours);
  await untilLogged(stranger, theirs);
  const [toUs, toThem] = [await listsFor(admin), await listsFor(stranger)];

  expect([ours.length, toUs.length].map((count) => count > 15)).toEqual([true, true]);
  expect([...otherThan(200, toUs), ...otherThan(200, toThem)]).toEqual([]);
  expect(toUs.filter(({ text }) => !hasAny(text, ours)).map(({ name }) => name)).toEqual(OF_NO_TEAM);
  expect(toThem.filter(({ text }) => !hasAny(text, theirs)).map(({ name }) => name)).toEqual(OF_NO_TEAM);
  // Some names are UUIDs too. An operator created the first key of each team, and moved an installation from the first
  // team: a team sees which operator that was, with which key.
  const whoami = await call(harness.harness, "/api/v1/agent/whoami", { key: operator.key });
  const ofOperator = new Set([operator.uid, whoami.body.key.id, FIRST_TEAM, ...SHARED]);
  const ids = toUs.flatMap(({ text }) => text.match(UUID) ?? []);
  const marks = [...new Set([...ours, ...ids])].filter((mark) => !ofOperator.has(mark));
  const leaks = toThem.flatMap(({ name, text }) =>
    marks.filter((mark) => text.includes(mark)).map((mark) => `${name}: ${mark}`),
  );
  expect(leaks).toEqual([]);
});

/** Creates one object for each parameter of the addresses, and one incoming event. Returns their ids. */
async function oneOfEach(owner: Caller): Promise<readonly string[]> {
  const { harness: api, objects } = harness;
  const names = Object.keys(ROUTES).filter((name) => ROUTES[name] !== "open");
  const addresses = names.map(addressOf).filter((address) => address.includes("/:"));
  const places = new Set(addresses.map((address) => address.replace(/(:\w+)[^:]*$/, "$1")));
  const filled = await eachOf([...places], async (place) => {
    const segments = (await objects.fill(place, owner)).split("/");
    // The name of an adapter is no object of a team, and other texts have it too.
    return segments.filter((each, index) => each !== place.split("/")[index] && each !== MANAGER.adapter);
  });
  const environment = (await objects.fill("/agent/environments/:uid", owner)).split("/").at(-1) ?? "";
  await objects.fill("/agent/runs/:runId", owner, { config: { environment_id: environment } });
  const event = anInboxEvent();
  await api.storage.inbox.put(event);
  const result = { inboxId: event.id, disposition: "refused", teamId: owner.team.id as TeamId } as const;
  await api.storage.inbox.complete(result);
  return [...filled.flat(), environment, event.id, owner.uid];
}

/**
 * Waits until the log of all runs contains events of the objects. The log leaves out events that are newer than the
 * oldest open transaction of the PostgreSQL server, and tests in other databases of the same server open transactions.
 */
async function untilLogged(caller: Caller, ids: readonly string[]): Promise<void> {
  const name = "GET /agent/events";
  const cell = cellsOf([caller]).find((candidate) => candidate.name === name);
  if (cell === undefined) {
    throw new Error(`No cell is named ${name}.`);
  }
  const page = async () => (await harness.ask(cell, `${addressOf(name)}${QUERIES[name]}`)).text;
  await waitFor(async () => hasAny(await page(), ids), { what: "events in the log of all runs" });
}

/**
 * Requests every route without a path parameter that the caller may read. Routes with a run's id are in the matrix.
 */
async function listsFor(caller: Caller) {
  const lists = cellsOf([caller]).filter(
    ({ name, rule }) =>
      name.startsWith("GET ") && name !== ONE_BY_ADDRESS && !hasPlace(name) && caller.may(rule),
  );
  return eachOf(lists, async (cell) => {
    const { name } = cell;
    return { name, ...(await harness.ask(cell, `${addressOf(name)}${QUERIES[name] ?? ""}`)) };
  });
}

function hasAny(text: string, marks: readonly string[]): boolean {
  return marks.some((mark) => text.includes(mark));
}
