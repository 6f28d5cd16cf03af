import { describe, expect, test } from "vitest";
import { createAgentChooser, defaultAgentName } from "../../../src/agents/agent-chooser.ts";
import { AGENT_NAMES, type AgentSetting } from "../../../src/agents/agent-settings.ts";
import { createCatalogue } from "../../../src/agents/catalogue.ts";
import type { ModelServers } from "../../../src/agents/models.ts";
import { AppError } from "../../../src/core/basics/errors.ts";
import type { RunConfig } from "../../../src/core/model/runs/run.ts";

const CUSTOM = { argv: ["/bin/agent"], readable: [] } as const;
const ANTHROPIC = { anthropic: {} };
const OPENAI = { openai: { isCompatible: false } };
const COMPATIBLE = { openai: { isCompatible: true } };
const GEMINI = { gemini: {} };
const ALL = { ...ANTHROPIC, ...OPENAI, ...GEMINI };

interface Bootstrap {
  readonly servers?: ModelServers;
  readonly setting?: AgentSetting;
  readonly defaultModel?: string;
}

function choose(
  config: RunConfig,
  { servers = {}, setting = "auto", ...more }: Bootstrap = {},
  member?: string,
): string {
  const isPriced = (modelId: string) => modelId.startsWith("gpt-");
  const catalogue = createCatalogue(CUSTOM);
  return createAgentChooser({ catalogue, servers, setting, isPriced, ...more }).choose(config, member);
}

function refusalOf(config: RunConfig, bootstrap: Bootstrap = {}, member?: string): AppError {
  try {
    choose(config, bootstrap, member);
  } catch (error) {
    if (error instanceof AppError) {
      return error;
    }
    throw error;
  }
  throw new Error("It was not refused.");
}

test("the settings name each agent of the catalogue", () => {
  expect([...createCatalogue(CUSTOM).keys()]).toEqual([...AGENT_NAMES]);
  expect(createCatalogue().has("custom")).toBe(false);
});

test.each<[string, AgentSetting, ModelServers, string]>([
  ["nothing", "auto", {}, "demo"],
  ["a compatible endpoint", "auto", { ...COMPATIBLE, ...ANTHROPIC }, "opencode"],
  ["Anthropic's key", "auto", ALL, "claude"],
  ["OpenAI's key", "auto", { ...OPENAI, ...GEMINI }, "codex"],
  ["Gemini's key", "auto", GEMINI, "gemini"],
  ["the operator's choice", "qwen", ALL, "qwen"],
])("the default agent by %s", (_by, setting, servers, expected) => {
  expect(defaultAgentName(setting, servers)).toBe(expected);
  expect(choose({}, { setting, servers })).toBe(expected);
  expect(choose({ harness: { type: "oz" } }, { setting, servers })).toBe(expected);
});

describe("a model decides which agent is used", () => {
  test.each<[string, Bootstrap, string]>([
    ["claude-opus-5-5", { servers: ALL }, "claude"],
    ["sonnet", { servers: ALL }, "claude"],
    ["gpt-6.1-sol", { servers: ALL }, "codex"],
    ["o7-mini", { servers: ALL }, "codex"],
    ["gemini-3.8-flash", { servers: ALL }, "gemini"],
    ["openai/gpt-6-sol", { servers: ALL }, "codex"],
    ["google/gemini-9", { servers: ALL }, "gemini"],
    ["claude-opus-5-5", { servers: { ...COMPATIBLE, ...ANTHROPIC } }, "claude"],
    ["claude-opus-5-5", { servers: COMPATIBLE }, "opencode"],
    ["gpt-6.1-sol", { servers: COMPATIBLE }, "opencode"],
    ["anthropic/claude-opus-5-5", { servers: { ...COMPATIBLE, ...ANTHROPIC } }, "opencode"],
    ["llama-9", { servers: COMPATIBLE }, "opencode"],
    ["llama-9", { servers: COMPATIBLE, setting: "qwen" }, "qwen"],
    ["claude-opus-5-5", { servers: ALL, setting: "opencode" }, "opencode"],
    ["gemini-3.8-flash", { servers: ALL, setting: "codex" }, "gemini"],
    ["anything", { setting: "custom" }, "custom"],
    ["claude-opus-5-5", {}, "demo"],
    ["claude-opus-5-5", { servers: ALL, setting: "demo" }, "demo"],
  ])("the model %s chooses an agent that %j can serve", (model, bootstrap, expected) => {
    expect(choose({ model_id: model }, bootstrap)).toBe(expected);
    expect(choose({ model_id: "gpt-1", harness: { model_id: model } }, bootstrap)).toBe(expected);
  });

  test.each<[RunConfig, Bootstrap, string, string]>([
    [{ model_id: "llama-9" }, { servers: ALL }, "config.model_id", "llama-9"],
    [{ model_id: "gemini-3" }, { servers: OPENAI }, "config.model_id", "GEMINI_API_KEY"],
    [{ model_id: "anthropic/claude-x" }, { servers: OPENAI }, "config.model_id", "ANTHROPIC_API_KEY"],
    [
      { harness: { model_id: "claude-x" } },
      { servers: OPENAI },
      "config.harness.model_id",
      "ANTHROPIC_API_KEY",
    ],
    [{}, { setting: "claude", servers: OPENAI }, "config.harness.type", "ANTHROPIC_API_KEY"],
  ])("the configuration %j is refused where the server has %j", (config, bootstrap, path, word) => {
    const refusal = refusalOf(config, bootstrap);

    expect(refusal).toMatchObject({ code: "invalid_request", options: { issues: [{ path }] } });
    expect(refusal.message).toContain(word);
    expect(refusal.options.remedy).toBeDefined();
  });
});

test.each<[RunConfig, Bootstrap, string | undefined]>([
  [{ model_id: "gemini-3" }, { servers: OPENAI }, "gemini"],
  [{ harness: { type: "opencode", model_id: "claude-x" } }, { servers: GEMINI }, "anthropic"],
  [{ harness: { type: "claude" } }, { servers: OPENAI }, "anthropic"],
  [{ harness: { type: "claude", model_id: "our-own" } }, {}, "anthropic"],
  [{ harness: { type: "opencode" } }, {}, undefined],
])("the refusal of %j of %j names whose models are missing: %s", (config, bootstrap, provider) => {
  expect(refusalOf(config, bootstrap).options.provider).toBe(provider);
});

describe("an agent is named", () => {
  test.each<[string, string | undefined, ModelServers]>([
    ["claude", undefined, ANTHROPIC],
    ["claude", "a-model-of-ours", ANTHROPIC],
    ["claude", "anthropic/claude-opus-5-5", { ...ANTHROPIC, ...COMPATIBLE }],
    ["codex", "a-model-of-ours", COMPATIBLE],
    ["opencode", "gemini-3.8-flash", GEMINI],
    ["custom", "whatever", {}],
    ["demo", "whatever", {}],
  ])("the named agent %s does the run with the model %s", (type, model, servers) => {
    const harness = { type, ...(model === undefined ? {} : { model_id: model }) };

    expect(choose({ harness }, { servers })).toBe(type);
  });

  test.each<[string, string | undefined, ModelServers, string, string]>([
    ["nobody", undefined, ALL, "config.harness.type", "nobody"],
    ["claude", undefined, OPENAI, "config.harness.type", "ANTHROPIC_API_KEY"],
    ["opencode", undefined, {}, "config.harness.type", "one of OPENAI_API_KEY"],
    ["claude", "gpt-6.1-sol", ALL, "config.harness.model_id", "Claude Code does not work with"],
    ["opencode", "claude-x", GEMINI, "config.harness.model_id", "ANTHROPIC_API_KEY"],
  ])(
    "the named agent %s with the model %s is refused where the server has %j",
    (type, model, servers, path, word) => {
      const harness = { type, ...(model === undefined ? {} : { model_id: model }) };
      const refusal = refusalOf({ harness }, { servers });

      expect(refusal).toMatchObject({ code: "invalid_request", options: { issues: [{ path }] } });
      expect(refusal.message).toContain(word);
    },
  );

  test.each<[RunConfig, Bootstrap, string]>([
    [{ harness: { type: "nobody" } }, {}, "harness.type"],
    [{ harness: { type: "claude" } }, {}, "harness.type"],
    [{ model_id: "llama-9" }, { servers: ALL }, "model_id"],
    [{ harness: { model_id: "llama-9" } }, { servers: ALL }, "harness.model_id"],
    [{ harness: { type: "custom" }, budget: { max_cost_usd: 1 } }, {}, "budget.max_cost_usd"],
  ])("the member %j of %j is refused by the name that the caller used", (config, bootstrap, path) => {
    const { options } = refusalOf(config, bootstrap, "agent_config");

    expect(options.issues?.map((issue) => issue.path)).toEqual([`agent_config.${path}`]);
  });

  test("custom without a command", () => {
    const options = { catalogue: createCatalogue(), servers: {}, setting: "auto" as const };
    const chooser = createAgentChooser({ ...options, isPriced: () => false });

    expect(() => chooser.choose({ harness: { type: "custom" } })).toThrow(
      expect.objectContaining({
        options: expect.objectContaining({ remedy: expect.stringContaining("_COMMAND") }),
      }),
    );
  });
});

describe("a limit of the cost", () => {
  const budget = { max_cost_usd: 1 };

  test.each<[string, RunConfig, Bootstrap]>([
    ["whose price is known", { model_id: "gpt-6.1-sol" }, { servers: OPENAI }],
    ["that is the default and has one", {}, { servers: OPENAI }],
    ["of none", {}, {}],
  ])("a limit of the cost is accepted for a model %s", (_which, config, bootstrap) => {
    expect(() => choose({ ...config, budget }, bootstrap)).not.toThrow();
  });

  test.each<[string, RunConfig, Bootstrap]>([
    ["a model without a price", { model_id: "llama-9" }, { servers: COMPATIBLE }],
    ["a default model without one", {}, { servers: COMPATIBLE, defaultModel: "llama-9" }],
    ["a model whose agent reports its cost", { model_id: "claude-unpriced" }, { servers: ANTHROPIC }],
    ["an agent of which nothing is known", { harness: { type: "custom" } }, {}],
  ])("a limit of the cost is refused for %s", (_which, config, bootstrap) => {
    expect(refusalOf({ ...config, budget }, bootstrap)).toMatchObject({
      code: "operation_not_supported",
      options: { issues: [{ path: "config.budget.max_cost_usd" }] },
    });
  });
});
