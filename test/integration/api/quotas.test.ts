import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";
import { PeopleCaller } from "./people-caller.ts";

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const { aKey, aPrincipal, ask } = new PeopleCaller(() => harness);

interface TeamCaller {
  readonly uid: string;
  readonly key: string;
  readonly create: (headers?: Record<string, string>) => ReturnType<typeof ask>;
}

/** A new team with these quotas, and a key of its administrator. */
async function aTeam(name: string, quotas: readonly object[]): Promise<TeamCaller> {
  const { uid } = (await ask("/teams", { body: { name } })).body;
  const principal = await aPrincipal({ administrator: true, team_uid: uid });
  const { key } = await aKey({ scopes: ["admin"], principal_uid: principal });
  const set = await setQuotas(uid, quotas);
  expect(set.status).toBe(200);
  return { uid, key, create: (headers = {}) => ask("/runs", { body: { prompt: "do it" }, key, headers }) };
}

function setQuotas(uid: string, quotas: readonly object[], key = harness.key) {
  return ask(`/teams/${uid}/quotas`, { method: "PUT", body: { quotas }, key });
}

describe("the quotas of a team", () => {
  test("the members of a team see its quotas with their use", async () => {
    const quotas = [
      { name: "queued_runs", limit: 10 },
      { name: "runs_per_day", limit: 20 },
      { name: "runs_per_day", limit: 5, scope: "key" },
      { name: "cost_usd_per_month", limit: 99.5 },
    ];
    const team = await aTeam("Watched", quotas);
    await team.create();

    const { body } = await ask("/quotas", { key: team.key });

    expect(body.quotas).toEqual([
      { name: "queued_runs", limit: 10, used: 1, scope: "team" },
      { name: "runs_per_day", limit: 20, used: 1, scope: "team" },
      { name: "runs_per_day", limit: 5, used: 1, scope: "key" },
      { name: "cost_usd_per_month", limit: 99.5, used: 0, scope: "team" },
    ]);
  });

  test("a run above running_runs is accepted, and says that it waits for the quota", async () => {
    const team = await aTeam("Slow", [{ name: "running_runs", limit: 0 }]);

    const created = await team.create();

    expect(created.status).toBe(200);
    const { body } = await ask("/quotas", { key: team.key });
    expect(body.quotas).toEqual([{ name: "running_runs", limit: 0, used: 0, scope: "team" }]);
  });

  test("the administrators of a team cannot change its quotas", async () => {
    const team = await aTeam("Bound", [{ name: "runs_per_day", limit: 1 }]);

    const { body, status } = await setQuotas(team.uid, [], team.key);

    expect([status, body.code]).toEqual([403, "not_authorized"]);
    expect((await ask("/quotas", { key: team.key })).body.quotas).toHaveLength(1);
  });

  test.each([
    ["an unknown name", [{ name: "coffee", limit: 1 }]],
    ["a negative limit", [{ name: "queued_runs", limit: -1 }]],
    ["a part of a run", [{ name: "queued_runs", limit: 1.5 }]],
    ["slots for each key", [{ name: "running_runs", limit: 1, scope: "key" }]],
    ["a queue for each key", [{ name: "queued_runs", limit: 1, scope: "key" }]],
    [
      "the same quota twice",
      [
        { name: "runs_per_day", limit: 1 },
        { name: "runs_per_day", limit: 2 },
      ],
    ],
  ])("%s is refused and changes nothing", async (_what, quotas) => {
    const { body, status } = await setQuotas(FIRST_TEAM, quotas);

    expect([status, body.code]).toEqual([400, "invalid_request"]);
    expect(body.issues[0].path).toMatch(/^quotas\.[01]/);
    expect((await ask("/quotas")).body.quotas).toEqual([]);
  });

  test("a team that does not exist gets no quotas", async () => {
    const answer = await setQuotas("00000000-0000-7000-8000-00000000dead", []);

    expect(answer.status).toBe(404);
  });
});

describe("a run above a quota", () => {
  test("a full queue is answered 429 with the time to wait, and the run is created once there is room", async () => {
    const team = await aTeam("Queued", [{ name: "queued_runs", limit: 1 }]);
    const first = await team.create();

    const { body, headers, status } = await team.create();
    await ask(`/runs/${first.body.run_id}/cancel`, { method: "POST", key: team.key });
    const second = await team.create();

    expect([status, body.code, body.retryable]).toEqual([429, "resource_unavailable", true]);
    expect(body.detail).toContain("queued_runs of the team is used up: 1 of 1");
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    expect(second.status).toBe(200);
  });

  test("a used up number of runs is answered 403, and says what to do", async () => {
    const team = await aTeam("Spent", [{ name: "runs_per_day", limit: 1 }]);
    await team.create();

    const { body, status } = await team.create();

    expect([status, body.code, body.retryable]).toEqual([403, "budget_exceeded", false]);
    expect(body.detail).toContain("runs_per_day of the team is used up: 1 of 1");
    expect(body.remedy).toContain("operator");
  });

  test("a request that is repeated with its Idempotency-Key gets its run although the quota is used up", async () => {
    const team = await aTeam("Repeated", [{ name: "runs_per_day", limit: 1 }]);
    const first = await team.create({ "idempotency-key": "one" });

    const again = await team.create({ "idempotency-key": "one" });
    const other = await team.create({ "idempotency-key": "two" });
    await setQuotas(team.uid, [{ name: "runs_per_day", limit: 2 }]);
    const later = await team.create({ "idempotency-key": "two" });

    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(other.status).toBe(403);
    expect(later.status).toBe(200);
  });

  test("a quota of one team does not affect another team", async () => {
    const bound = await aTeam("Poor", [{ name: "runs_per_day", limit: 0 }]);
    const free = await aTeam("Rich", []);

    const statuses = await Promise.all([bound.create(), free.create(), bound.create(), free.create()]);

    expect(statuses.map(({ status }) => status)).toEqual([403, 200, 403, 200]);
  });

  test("a retried run meets the quota too", async () => {
    const team = await aTeam("Retried", [{ name: "runs_per_day", limit: 1 }]);
    const { run_id: id } = (await team.create()).body;
    await ask(`/runs/${id}/cancel`, { method: "POST", key: team.key });

    const { status } = await ask(`/runs/${id}/retry`, { method: "POST", key: team.key });

    expect(status).toBe(403);
  });
});
