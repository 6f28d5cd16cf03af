import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Policy, RoutingRule } from "@errand/client";
import { describe, expect, test } from "vitest";
import { matchText, POLICY_CONDITIONS, ROUTING_CONDITIONS } from "../../src/rules/conditions.ts";
import { policyDraftOf, policyIssuesOf, policyRequestOf } from "../../src/rules/policy-draft.ts";
import { routingDraftOf, routingRequestOf } from "../../src/rules/routing-draft.ts";

const STORED = {
  id: "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d70",
  created_by: "0195b2a0-0000-7000-8000-000000000001",
  created_at: "2026-03-01T09:00:00.000Z",
  updated_at: "2026-03-01T09:00:00.000Z",
};

describe("the draft of a policy", () => {
  const content = {
    name: "Production waits",
    enabled: false,
    priority: 10,
    effect: "require_approval",
    match: { actions: ["create"], relation: "others", models: ["large"], places: ["acme/*"] },
    reason: "The platform team approves.",
  } as const;

  test("a policy comes back as the same request", () => {
    expect(policyRequestOf(policyDraftOf({ ...STORED, ...content } as unknown as Policy))).toEqual(content);
  });

  test("only a policy that denies says how a refused message is answered", () => {
    const denying = { ...content, effect: "deny", refusal: "silent" } as const;
    const draft = policyDraftOf({ ...STORED, ...denying } as unknown as Policy);

    expect(policyRequestOf(draft)).toEqual(denying);
    expect(policyRequestOf({ ...draft, effect: "allow" }).refusal).toBeUndefined();
    expect(policyRequestOf({ ...draft, refusal: "" }).refusal).toBeUndefined();
  });

  test("texts of conditions are sent without empty lines and spaces around them", () => {
    const draft = { ...policyDraftOf(undefined), match: { places: [" acme/web ", "", "acme/api"] } };

    expect(policyRequestOf(draft).match).toEqual({ places: ["acme/web", "acme/api"] });
  });

  test("a name of spaces, a fraction as priority and a condition without a value are problems", () => {
    const draft = { ...policyDraftOf(undefined), name: " ", priority: "1.5", match: { places: ["", " "] } };

    expect(policyIssuesOf(draft).map(({ path }) => path)).toEqual(["name", "priority", "match.places"]);
  });

  test("the condition on workflows is edited as JSON, and a text that is none is sent for the server to refuse", () => {
    const workflow = { repository_ids: ["1"], refs: ["refs/heads/main"], events: ["push"] };
    const draft = policyDraftOf({ ...STORED, ...content, match: { workflow } } as unknown as Policy);

    expect(policyRequestOf(draft).match).toEqual({ workflow });
    expect(matchText({ workflow }, POLICY_CONDITIONS, new Map())).toContain('"refs": [ "refs/heads/main" ]');
    const broken = { ...draft, match: { workflow: ["{"] } };
    expect(policyRequestOf(broken).match).toEqual({ workflow: "{" });
  });

  test("an empty reason is left out", () => {
    expect(policyRequestOf({ ...policyDraftOf(undefined), reason: "  " })).not.toHaveProperty("reason");
  });
});

describe("the draft of a routing rule", () => {
  const harness = { type: "codex", reasoning_level: "high" };
  const content = {
    name: "The web shop",
    enabled: true,
    priority: 100,
    match: { text: ["cart"] },
    environment_id: "env-1",
    config: { harness, base_prompt: "Be brief.", worker_host: "gpu", budget: { max_turns: 3 } },
  };
  const draft = routingDraftOf({ ...STORED, ...content } as unknown as RoutingRule);

  test("a rule comes back as the same request, with what the form does not show", () => {
    expect(routingRequestOf(draft)).toEqual(content);
  });

  test("another agent gets none of the settings of the former one", () => {
    const request = routingRequestOf({ ...draft, agent: "claude", model: "small" });

    expect(request.config).toEqual({ ...content.config, harness: { type: "claude" }, model_id: "small" });
  });

  test("an emptied field is left out of the request", () => {
    const request = routingRequestOf({ ...draft, environment: "", instructions: "", agent: "" });

    expect(request).toEqual({
      name: "The web shop",
      enabled: true,
      priority: 100,
      match: { text: ["cart"] },
      config: { worker_host: "gpu", budget: { max_turns: 3 } },
    });
  });
});

test("conditions are read with their labels and the names of what they mean", () => {
  const match = { actions: ["create", "cancel"], environments: ["env-1", "gone"] };
  const names = new Map([["env-1", "Web"]]);

  expect(matchText(match, POLICY_CONDITIONS, names)).toBe(
    "Action: Start a run, Stop a run; Environment: Web, gone",
  );
  expect(matchText({}, POLICY_CONDITIONS, names)).toBeUndefined();
});

interface Schema {
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly $ref?: string;
}

describe("the conditions of the forms are those of the API", async () => {
  const file = resolve(import.meta.dirname, "../../../docs/openapi.json");
  const { components } = JSON.parse(await readFile(file, "utf8")) as {
    readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  };
  const valuesOf = (schema: Schema): readonly string[] | undefined => {
    const { enum: values, items, $ref } = schema;
    const next = items ?? components.schemas[$ref?.split("/").at(-1) ?? ""];
    return values ?? (next && valuesOf(next));
  };

  test.each([
    ["PolicyMatch", POLICY_CONDITIONS],
    ["RoutingMatch", ROUTING_CONDITIONS],
  ])("%s", (name, conditions) => {
    const members = components.schemas[name]?.properties ?? {};
    expect(conditions.map((condition) => condition.name).toSorted()).toEqual(Object.keys(members).toSorted());
    for (const { name: member, options } of conditions) {
      if (options !== "sources") {
        const values = valuesOf(members[member] ?? {}) ?? [];
        const offered = typeof options === "object" ? options.map(({ value }) => value) : [];
        expect([member, ...offered.toSorted()]).toEqual([member, ...values.toSorted()]);
      }
    }
  });
});
