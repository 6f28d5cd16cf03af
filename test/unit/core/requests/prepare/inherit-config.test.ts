import { beforeEach, expect, test } from "vitest";
import type { Run } from "../../../../../src/core/model/runs/run.ts";
import type { NewRun } from "../../../../../src/core/requests/prepare/new-run.ts";
import { CoreHarness } from "../../../../support/core-harness.ts";
import { aRoutingRule } from "../../../../support/rule-builders.ts";

const CONFIG = {
  name: "release",
  model_id: "m-1",
  base_prompt: "Be brief.",
  permission_policy: "ask",
  priority: "high",
  mine: { kept: true },
} as const;
const PROVENANCE = { repository: "acme/shop", head: "fix", actor: { id: 7 }, config_layers: {} };

let harness: CoreHarness;
beforeEach(() => {
  harness = new CoreHarness();
});

async function continueRun(before: Run, request: Partial<NewRun> = {}): Promise<Run> {
  return harness.create({ prompt: "Go on", continues: before, ...request });
}

test("a run that continues a conversation inherits the configuration of the previous run", async () => {
  const before = await harness.create({ config: CONFIG, provenance: PROVENANCE });

  const { agent, config, provenance } = await continueRun(before);

  const { name: _name, priority: _priority, ...inherited } = CONFIG;
  expect(agent).toBe("scripted");
  expect(config).toEqual(inherited);
  expect(provenance).toEqual({
    repository: "acme/shop",
    head: "fix",
    config_layers: Object.fromEntries(
      [...Object.keys(inherited), "harness"].map((name) => [name, "conversation"]),
    ),
  });
});

test("the request overrides the inherited configuration, which overrides routing rules", async () => {
  await harness.storage.routingRules.add(
    aRoutingRule({
      match: { sources: ["API"] },
      config: { base_prompt: "Be long.", idle_timeout_minutes: 5 },
    }),
  );
  const before = await harness.create({ config: CONFIG });

  const { config, provenance } = await continueRun(before, { config: { model_id: "m-2" } });

  expect(config).toMatchObject({ model_id: "m-2", base_prompt: "Be brief.", idle_timeout_minutes: 5 });
  expect(provenance.config_layers).toMatchObject({ model_id: "request", base_prompt: "conversation" });
});

test("another agent does not inherit the model of the previous run", async () => {
  const before = await harness.create({ config: CONFIG });

  const { agent, config } = await continueRun(before, { config: { harness: { type: "other" } } });

  expect(agent).toBe("other");
  expect(config).not.toHaveProperty("model_id");
  expect(config).toMatchObject({ base_prompt: "Be brief.", harness: { type: "other" } });
});

test.each([
  [false, undefined, false],
  [true, undefined, true],
  [false, true, true],
  [true, false, false],
])("after a run with team ownership %s, a request for %s continues as: %s", async (was, requested, is) => {
  const before = await harness.create({ teamOwned: was });

  const run = await continueRun(before, requested === undefined ? {} : { teamOwned: requested });

  expect(run.teamOwned).toBe(is);
});
