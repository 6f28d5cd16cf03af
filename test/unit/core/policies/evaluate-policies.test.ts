import { describe, expect, test } from "vitest";
import type { PrincipalId } from "../../../../src/core/ids.ts";
import {
  type ActionRequest,
  evaluatePolicies,
  requireAllowed,
} from "../../../../src/core/policies/evaluate-policies.ts";
import { POLICY_ACTIONS, type PolicyMatch } from "../../../../src/core/policies/policy.ts";
import { aPolicy } from "../../../support/rule-builders.ts";

const ADA = "019cb000-0000-7000-8000-000000000001" as PrincipalId;
const DEED: ActionRequest = {
  action: "create",
  source: "SLACK",
  integration: "slack",
  installation: "T1",
  place: "C-prod",
  principalId: ADA,
  principalType: "user",
  isAdministrator: false,
  environmentId: "env-1",
  agent: "codex",
};

describe("policies", () => {
  test("none: everything is allowed, but approving is for administrators", () => {
    const effects = POLICY_ACTIONS.map((action) => evaluatePolicies([], { ...DEED, action }).effect);

    expect(effects).toEqual(["allow", "allow", "allow", "allow", "deny"]);
    expect(evaluatePolicies([], { ...DEED, action: "approve", isAdministrator: true }).effect).toBe("allow");
  });

  test("the first that matches decides, and all that were looked at are told", () => {
    const other = aPolicy({ match: { sources: ["API"] } });
    const allows = aPolicy({ effect: "allow", reason: "Ada may." });
    const denies = aPolicy();

    const verdict = evaluatePolicies([other, allows, denies], DEED);

    expect(verdict).toMatchObject({ effect: "allow", reason: "Ada may.", policy: allows });
    expect(verdict.considered).toEqual([{ policy: other, mismatch: "sources" }, { policy: allows }]);
  });

  test.each(["CLI", "GITHUB_ACTION", "LOCAL"] as const)(
    "about the API hold for who says to be %s, unless they allow",
    (source) => {
      const effects = (["deny", "require_approval", "allow"] as const).map((effect) => {
        const { policy } = evaluatePolicies([aPolicy({ effect, match: { sources: ["API"] } })], {
          ...DEED,
          source,
        });
        return policy?.effect;
      });

      expect(effects).toEqual(["deny", "require_approval", undefined]);
    },
  );

  test.each<[keyof PolicyMatch, PolicyMatch, PolicyMatch]>([
    ["actions", { actions: ["create", "cancel"] }, { actions: ["cancel"] }],
    ["sources", { sources: ["SLACK"] }, { sources: ["API"] }],
    ["integrations", { integrations: ["slack"] }, { integrations: ["github"] }],
    ["installations", { installations: ["T1"] }, { installations: ["T2"] }],
    ["places", { places: ["c-*"] }, { places: ["d-*"] }],
    ["principals", { principals: [ADA] }, { principals: ["x" as PrincipalId] }],
    ["principalTypes", { principalTypes: ["user"] }, { principalTypes: ["service_account"] }],
    ["environments", { environments: ["env-1"] }, { environments: ["env-2"] }],
    ["agents", { agents: ["codex"] }, { agents: ["demo"] }],
  ])("%s: one of them must hold", (condition, holding, failing) => {
    expect(evaluatePolicies([aPolicy({ match: holding })], DEED).effect).toBe("deny");
    const verdict = evaluatePolicies([aPolicy({ match: failing })], DEED);
    expect(verdict.effect).toBe("allow");
    expect(verdict.considered).toMatchObject([{ mismatch: condition }]);
  });

  test("a condition about what is not known does not hold", () => {
    const match = { environments: ["env-1"], places: ["*"] };

    expect(
      evaluatePolicies([aPolicy({ match })], { action: "create", source: "API", isAdministrator: false })
        .effect,
    ).toBe("allow");
  });

  test("only new runs wait for approval", () => {
    const policies = [aPolicy({ effect: "require_approval" })];

    const effects = POLICY_ACTIONS.map((action) => evaluatePolicies(policies, { ...DEED, action }).effect);

    expect(effects).toEqual(["require_approval", "allow", "allow", "allow", "deny"]);
  });

  test("a rule that allows everything lets nobody approve, one that names it does", () => {
    const action = { ...DEED, action: "approve" } as const;
    const all = aPolicy({ effect: "allow" });
    const named = aPolicy({ effect: "allow", match: { actions: ["approve"], principals: [ADA] } });

    expect([evaluatePolicies([all], action).effect, evaluatePolicies([all, named], action).effect]).toEqual([
      "deny",
      "allow",
    ]);
  });

  test("a rule that forbids everything forbids approving too, administrators as well", () => {
    expect(evaluatePolicies([aPolicy()], { ...DEED, action: "approve", isAdministrator: true }).effect).toBe(
      "deny",
    );
  });
});

describe("a refusal", () => {
  test("says the policy's reason, or its name", () => {
    const refuse = (reason?: string) => () =>
      requireAllowed(
        evaluatePolicies([aPolicy({ name: "no-prod", ...(reason === undefined ? {} : { reason }) })], DEED),
      );

    expect(refuse("Ask Bob first.")).toThrow("Ask Bob first.");
    expect(refuse()).toThrow('The policy "no-prod" says so.');
    expect(refuse()).toThrow(expect.objectContaining({ code: "not_authorized", retryable: false }));
  });

  test("is none where it is allowed, or has to wait", () => {
    for (const effect of ["allow", "require_approval"] as const)
      expect(() => requireAllowed(evaluatePolicies([aPolicy({ effect })], DEED))).not.toThrow();
  });
});
