import { beforeEach, expect, test } from "vitest";
import type { NewRun } from "../../../../src/core/runs/new-run.ts";
import type { Run } from "../../../../src/core/runs/run.ts";
import { CoreHarness } from "../../../support/core-harness.ts";
import { aRoutingRule } from "../../../support/rule-builders.ts";

const CONFIG = {
  name: "release",
  model_id: "m-1",
  base_prompt: "Be brief.",
  permission_policy: "ask",
  mine: { kept: true },
} as const;
const PROVENANCE = { repository: "acme/shop", head: "fix", actor: { id: 7 }, config_layers: {} };

let harness: CoreHarness;
beforeEach(() => {
  harness = new CoreHarness();
});

async function goOn(before: Run, request: Partial<NewRun> = {}): Promise<Run> {
  return harness.create({ prompt: "Go on", continues: before, ...request });
}

test("a run that goes on with a conversation is as the one before it was", async () => {
  const before = await harness.create({ config: CONFIG, provenance: PROVENANCE });

  const { config, provenance } = await goOn(before);

  const { name: _name, ...kept } = CONFIG;
  expect(config).toEqual({ ...kept, harness: { type: "scripted" } });
  expect(provenance).toEqual({
    repository: "acme/shop",
    head: "fix",
    config_layers: Object.fromEntries(
      [...Object.keys(kept), "harness"].map((name) => [name, "conversation"]),
    ),
  });
});

test("what its request says counts first, and what a routing rule says last", async () => {
  await harness.storage.routingRules.add(
    aRoutingRule({
      match: { sources: ["API"] },
      config: { base_prompt: "Be long.", idle_timeout_minutes: 5 },
    }),
  );
  const before = await harness.create({ config: CONFIG });

  const { config, provenance } = await goOn(before, { config: { model_id: "m-2" } });

  expect(config).toMatchObject({ model_id: "m-2", base_prompt: "Be brief.", idle_timeout_minutes: 5 });
  expect(provenance.config_layers).toMatchObject({ model_id: "request", base_prompt: "conversation" });
});

test("another agent is not given the model of the one before", async () => {
  const before = await harness.create({ config: CONFIG });

  const { agent, config } = await goOn(before, { config: { harness: { type: "other" } } });

  expect(agent).toBe("other");
  expect(config).not.toHaveProperty("model_id");
  expect(config).toMatchObject({ base_prompt: "Be brief.", harness: { type: "other" } });
});

test.each([
  [false, undefined, false],
  [true, undefined, true],
  [false, true, true],
  [true, false, false],
])(
  "a conversation whose last run is the team's: %s, and asked for %s, goes on as: %s",
  async (was, asked, is) => {
    const before = await harness.create({ teamOwned: was });

    const run = await goOn(before, asked === undefined ? {} : { teamOwned: asked });

    expect(run.teamOwned).toBe(is);
  },
);
