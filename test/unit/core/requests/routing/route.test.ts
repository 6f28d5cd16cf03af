import { describe, expect, test } from "vitest";
import type { RoutingMatch } from "../../../../../src/core/model/defaults/request-defaults.ts";
import {
  type RoutedRequest,
  route,
  routedConfig,
} from "../../../../../src/core/requests/routing/route-request.ts";
import { aRoutingRule } from "../../../../support/rule-builders.ts";

const REQUEST: RoutedRequest = {
  source: "GITHUB_WEBHOOK",
  integration: "github",
  installation: "7",
  place: "acme/web",
  text: "Fix the flaky login test",
  config: {},
};

describe("routing", () => {
  test("the first matching routing rule decides", () => {
    const other = aRoutingRule({ match: { places: ["acme/api"] } });
    const first = aRoutingRule({ match: { places: ["acme/*"], text: ["login"] } });

    const routing = route([other, first, aRoutingRule()], REQUEST);

    expect(routing.rule).toBe(first);
    expect(routing.reason).toBe("The first rule that matches: places, text.");
    expect(routing.considered).toEqual([{ rule: other, mismatch: "places" }, { rule: first }]);
  });

  test.each<[RoutingMatch, RoutingMatch]>([
    [{ integrations: ["github"] }, { integrations: ["slack"] }],
    [{ installations: ["7"] }, { installations: ["8"] }],
    [{ places: ["*/web"] }, { places: ["web"] }],
    [{ text: ["LOGIN"] }, { text: ["log"] }],
    [{ sources: ["GITHUB_WEBHOOK"] }, { sources: ["SLACK"] }],
  ])("a routing rule matches with %j and does not match with %j", (holding, failing) => {
    const rule = aRoutingRule({ match: holding });
    expect(route([rule], REQUEST).rule).toBe(rule);
    expect(route([aRoutingRule({ match: failing })], REQUEST).rule).toBeUndefined();
  });

  test("routing does not change a request that names its environment", () => {
    const config = { environment_id: "mine" };

    expect(route([aRoutingRule()], { ...REQUEST, config })).toMatchObject({ considered: [] });
  });

  test("a request without an integration is routed by its source only", () => {
    const request: RoutedRequest = { source: "API", text: "x", config: {} };
    const named = aRoutingRule({ match: { sources: ["API"] } });

    expect(route([aRoutingRule(), named], request).rule).toBe(named);
  });
});

describe("a routed configuration", () => {
  const rule = aRoutingRule({
    name: "web",
    environmentId: "env-web",
    config: { model_id: "m-rule", base_prompt: "Be brief." },
  });

  test("the rule's values fill those missing in the request, and each value names its layer", () => {
    const request = { model_id: "m-asked" };

    const { config, provenance } = routedConfig({ request }, route([rule], REQUEST));

    expect(config).toEqual({ model_id: "m-asked", base_prompt: "Be brief.", environment_id: "env-web" });
    expect(provenance).toEqual({
      routing: { environment: "env-web", rule: "web", reason: "The first rule that matches." },
      config_layers: {
        harness: "default",
        model_id: "request",
        base_prompt: "routing_rule",
        environment_id: "routing_rule",
      },
    });
  });

  test("a routed configuration says that no rule matched if there are rules", () => {
    const slack = aRoutingRule({ match: { integrations: ["slack"] } });

    expect(routedConfig({ request: {} }, route([slack], REQUEST)).provenance.routing).toEqual({
      environment: null,
      rule: null,
      reason: "No routing rule matches.",
    });
    expect(routedConfig({ request: {} }, route([], REQUEST)).provenance).toEqual({
      config_layers: { harness: "default" },
    });
  });

  test("agent and model are taken from the same layer, because a model belongs to its agent", () => {
    const codex = aRoutingRule({ config: { harness: { type: "codex", model_id: "m" } } });

    const request = { harness: { type: "demo" } };

    const { config, provenance } = routedConfig({ request }, route([codex], REQUEST));

    expect(config).toEqual({ harness: { type: "demo" } });
    expect(provenance.config_layers).toEqual({ harness: "request" });
  });

  test("a request that names only the model keeps the agent program of the layer below", () => {
    const codex = aRoutingRule({ config: { harness: { type: "codex", reasoning_level: "low" } } });
    const agent = { harness: { type: "claude", model_id: "m-agent", reasoning_level: "high" } };
    const request = { harness: { model_id: "m-request" } };

    const overRule = routedConfig({ request }, route([codex], REQUEST));
    const overAgent = routedConfig({ request, agent }, route([codex], REQUEST));
    const sameProgram = routedConfig({ request: { harness: { type: "codex" } } }, route([codex], REQUEST));

    expect(overRule.config.harness).toEqual({
      type: "codex",
      model_id: "m-request",
      reasoning_level: "low",
    });
    expect(overRule.provenance.config_layers).toEqual({
      harness: "routing_rule",
      "harness.model_id": "request",
    });
    expect(overAgent.config.harness).toEqual({
      type: "claude",
      model_id: "m-request",
      reasoning_level: "high",
    });
    expect(overAgent.provenance.config_layers).toEqual({
      harness: "agent",
      "harness.model_id": "request",
    });
    expect(sameProgram.config.harness).toEqual({ type: "codex", reasoning_level: "low" });
  });

  test("a model_id of the request beats the model of a lower layer's harness", () => {
    const codex = aRoutingRule({ config: { harness: { type: "codex", model_id: "m-rule" } } });

    const { config } = routedConfig({ request: { model_id: "m-request" } }, route([codex], REQUEST));

    expect(config).toEqual({ harness: { type: "codex" }, model_id: "m-request" });
  });

  test("a request that names only the model of a harness is a choice of the request", () => {
    const request = { harness: { model_id: "m-request" } };

    expect(routedConfig({ request }, route([], REQUEST)).provenance.config_layers).toEqual({
      harness: "request",
    });
  });
});
