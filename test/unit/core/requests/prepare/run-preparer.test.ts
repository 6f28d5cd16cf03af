import { expect, test } from "vitest";
import { AppError } from "../../../../../src/core/basics/errors.ts";
import type { RunConfig } from "../../../../../src/core/model/runs/run.ts";
import type { AgentChoice } from "../../../../../src/core/requests/prepare/new-run.ts";
import { requireStorableConfig } from "../../../../../src/core/requests/prepare/run-preparer.ts";

/** A server whose default agent is not usable either. */
const NO_AGENT: AgentChoice = {
  needsSandbox: () => true,
  choose: (_config, member) => {
    throw new AppError("invalid_request", `No agent is usable by ${member}.`);
  },
};

test.each<RunConfig>([{}, { base_prompt: "Be brief." }, { budget: { max_turns: 3 } }])(
  "the configuration %j is accepted without a usable agent, because it chooses none",
  (config) => {
    expect(() => requireStorableConfig(config, "config", NO_AGENT)).not.toThrow();
  },
);

test.each<RunConfig>([{ harness: { type: "x" } }, { model_id: "x" }, { budget: { max_cost_usd: 1 } }])(
  "the configuration %j is accepted only with a usable agent",
  (config) => {
    expect(() => requireStorableConfig(config, "agent_config", NO_AGENT)).toThrow("by agent_config");
  },
);
