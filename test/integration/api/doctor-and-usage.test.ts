import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Check, ok, warn } from "../../../src/core/ports/check.ts";
import { call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const USAGE = "/api/v1/agent/usage";
const CHECKS: readonly Check[] = [
  { name: "fine", run: async () => ok("All is well.") },
  { name: "worn", run: async () => warn("It is old.", "Replace it.") },
  {
    name: "broken",
    run: async () => {
      throw new Error("an inner detail");
    },
  },
];

let harness: ApiHarness;
let ann: string;
beforeAll(async () => {
  harness = await startHarness({ checks: CHECKS });
  ann = await harness.addUser("ann");
});
afterAll(() => harness.close());

describe("the doctor", () => {
  test("the doctor returns the result of each check and the worst status", async () => {
    const { status, body, text } = await call(harness, "/api/v1/agent/doctor");

    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: "fail",
      checks: [
        { name: "fine", status: "ok", message: "All is well." },
        { name: "worn", status: "warn", message: "It is old.", remedy: "Replace it." },
        { name: "broken", status: "fail" },
      ],
    });
    expect(text).not.toContain("an inner detail");
  });

  test("only operators may read the doctor", async () => {
    const teamId = randomUUID() as never;
    await harness.storage.teams.put({ id: teamId, name: "Others", createdAt: new Date(), sharing: "off" });
    const chief = await harness.addUser("chief", { teamId, scopes: ["admin"] });
    const [principal] = await harness.storage.people.list(teamId);
    if (principal !== undefined) {
      await harness.storage.people.put({ ...principal, administrator: true });
    }

    expect((await call(harness, "/api/v1/agent/doctor", { key: ann })).status).toBe(403);
    expect((await call(harness, "/api/v1/agent/doctor", { key: chief })).status).toBe(403);
  });
});

describe("usage", () => {
  test("usage adds up the consumption of runs by the requested grouping", async () => {
    const id = await createRun(harness, {}, { key: ann });
    await createRun(harness, { team: false });
    await harness.edit(id, (edit) => edit.set({ totalTokens: 1_200, costUsd: 0.5 }));

    const all = (await call(harness, `${USAGE}?group_by=source&group_by=day`)).body.usage;
    const anns = (await call(harness, `${USAGE}?group_by=source`, { key: ann })).body.usage;

    const [row] = all;
    expect(row).toMatchObject({ source: "API", runs: 2, total_tokens: 1_200, inference_cost_usd: 0.5 });
    expect(row.day).toMatch(/^\d{4}-\d\d-\d\d$/);
    expect(row).not.toHaveProperty("creator_uid");
    expect(anns).toMatchObject([{ source: "API", runs: 1 }]);
    const { request_usage } = (await call(harness, `/api/v1/agent/runs/${id}`)).body;
    expect(request_usage).toEqual({ total_tokens: 1_200, inference_cost_usd: 0.5 });
  });

  test("a run without consumption does not appear in the usage", async () => {
    const id = await createRun(harness);

    expect((await call(harness, `/api/v1/agent/runs/${id}`)).body).not.toHaveProperty("request_usage");
  });

  test("usage by creator and by environment includes the names", async () => {
    const { usage } = (await call(harness, `${USAGE}?group_by=creator&group_by=environment`, { key: ann }))
      .body;

    expect(usage[0].creator_uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(usage[0]).not.toHaveProperty("environment_id");
  });

  test("usage by repository, agent and model has the success rate and the time to the result", async () => {
    const config = { repository: "acme/web", model_id: "m-1" };
    const key = await harness.addUser("someone else", { scopes: ["runs:write"] });
    const id = await createRun(harness, { config, team: false }, { key });
    await harness.edit(id, (edit) => {
      edit.moveTo("PENDING");
      edit.moveTo("CLAIMED");
      edit.moveTo("INPROGRESS");
      edit.moveTo("SUCCEEDED");
    });

    const path = `${USAGE}?group_by=repository&group_by=agent&group_by=model`;
    const { usage } = (await call(harness, path, { key })).body;

    const row = usage.find(({ repository }: { repository?: string }) => repository === "acme/web");
    expect(row).toMatchObject({ agent: "demo", model_id: "m-1", runs: 1, succeeded: 1, success_rate: 1 });
    expect(row.median_seconds_to_result).toBeGreaterThanOrEqual(0);
    expect(row.p95_seconds_to_result).toBeGreaterThanOrEqual(row.median_seconds_to_result);
  });

  test("usage of a period without runs is empty", async () => {
    expect((await call(harness, `${USAGE}?from=2020-01-01&to=2020-12-31`)).body).toEqual({ usage: [] });
  });

  test.each([
    "from=2026-02-30",
    "from=yesterday",
    "to=2026-03-01T00:00:00Z",
    "from=2026-03-02&to=2026-03-01",
    "from=2024-01-01&to=2026-01-01",
    "group_by=colour",
  ])("the usage of the period %s is refused", async (query) => {
    expect((await call(harness, `${USAGE}?${query}`)).status).toBe(400);
  });
});
