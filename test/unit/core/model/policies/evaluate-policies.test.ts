import { describe, expect, test } from "vitest";
import type { PrincipalId } from "../../../../../src/core/basics/ids.ts";
import {
  type ActionRequest,
  evaluatePolicies,
  refusingPolicy,
  requireAllowed,
} from "../../../../../src/core/model/policies/evaluate-policies.ts";
import {
  OUTSIDER_ROLES,
  POLICY_ACTIONS,
  type Policy,
  type PolicyMatch,
} from "../../../../../src/core/model/policies/policy.ts";
import { aPolicy } from "../../../../support/rule-builders.ts";

const ADA = "019cb000-0000-7000-8000-000000000001" as PrincipalId;
const REQUEST: ActionRequest = {
  action: "create",
  source: "SLACK",
  integration: "slack",
  installation: "T1",
  place: "C-prod",
  requestKind: "mention",
  principalId: ADA,
  principalType: "user",
  environmentId: "env-1",
  agent: "codex",
  roles: ["member"],
  groups: ["platform"],
  model: "big",
  priority: "high",
  repositories: ["Acme/parser", "acme/lexer"],
  relation: "own",
};

describe("policies", () => {
  test("without policies everything is allowed except approving, which administrators may do", () => {
    const effects = POLICY_ACTIONS.map((action) => evaluatePolicies([], { ...REQUEST, action }).effect);

    expect(effects).toEqual(["allow", "allow", "allow", "allow", "allow", "deny"]);
    expect(evaluatePolicies([], { ...REQUEST, action: "approve", roles: ["administrator"] }).effect).toBe(
      "allow",
    );
  });

  test("the first matching policy decides, and the verdict lists the policies considered", () => {
    const other = aPolicy({ match: { sources: ["API"] } });
    const allows = aPolicy({ effect: "allow", reason: "Ada may." });
    const denies = aPolicy();

    const verdict = evaluatePolicies([other, allows, denies], REQUEST);

    expect(verdict).toMatchObject({ effect: "allow", reason: "Ada may.", policy: allows });
    expect(verdict.considered).toEqual([{ policy: other, mismatch: "sources" }, { policy: allows }]);
  });

  test.each(OUTSIDER_ROLES)("a %s of a platform does nothing unless a policy names the role", (role) => {
    const request = { ...REQUEST, roles: [role] };
    const broad = [aPolicy({ effect: "allow" }), aPolicy({ effect: "require_approval" })];
    const naming = aPolicy({ effect: "allow", match: { roles: [role] } });

    const { considered, effect } = evaluatePolicies(broad, request);
    expect(effect).toBe("deny");
    expect(considered.slice(0, 2)).toMatchObject([{ mismatch: "roles" }, { mismatch: "roles" }]);
    expect(considered.at(-1)).toMatchObject({ policy: { builtin: true } });
    expect(evaluatePolicies([...broad, naming], request).effect).toBe("allow");
    expect(evaluatePolicies([aPolicy(), naming], request).effect).toBe("deny");
    expect(evaluatePolicies(broad, { ...request, source: "API" }).effect).toBe("allow");
  });

  test("words of strangers in a repository wait for approval by those who can push, unless a policy denies them", () => {
    const stranger = {
      ...REQUEST,
      source: "GITHUB_WEBHOOK",
      requestKind: "mention",
      roles: ["outside"],
    } as const;
    const effect = (changes: Partial<ActionRequest>, policies: readonly Policy[] = []) =>
      evaluatePolicies(policies, { ...stranger, ...changes }).effect;
    const denies = aPolicy({ match: { sources: ["GITHUB_WEBHOOK"], roles: ["outside"] } });

    expect([effect({}), effect({ roles: ["read"] }), effect({ action: "follow_up" })]).toEqual(
      Array(3).fill("require_approval"),
    );
    expect([effect({ roles: ["bot"] }), effect({ action: "answer" }), effect({ action: "approve" })]).toEqual(
      Array(3).fill("deny"),
    );
    expect([effect({ requestKind: "label" }), effect({ requestKind: "changes_requested" })]).toEqual([
      "require_approval",
      "deny",
    ]);
    expect([effect({ action: "cancel" }), effect({ action: "cancel", relation: "others" })]).toEqual([
      "allow",
      "deny",
    ]);
    expect(effect({ action: "approve", roles: ["write"] })).toBe("allow");
    expect(effect({ action: "approve", roles: ["write"], source: "SLACK" })).toBe("deny");
    expect([refusingPolicy([], stranger), refusingPolicy([denies], stranger)]).toEqual([undefined, denies]);
    expect(effect({}, [denies])).toBe("deny");
  });

  test("an outsider is admitted to the places of the policies that name the role", () => {
    const caller = { ...REQUEST, roles: ["guest"] } as const;
    const policies = (changes: Partial<Policy>) => [aPolicy({ effect: "allow", ...changes })];

    expect(refusingPolicy([], caller)?.effect).toBe("deny");
    expect(refusingPolicy(policies({}), caller)?.effect).toBe("deny");
    expect(refusingPolicy(policies({ match: { roles: ["external"] } }), caller)?.effect).toBe("deny");
    expect(refusingPolicy(policies({ match: { roles: ["guest"], places: ["D-*"] } }), caller)?.effect).toBe(
      "deny",
    );
    expect(refusingPolicy(policies({ match: { roles: ["guest"] }, effect: "deny" }), caller)?.effect).toBe(
      "deny",
    );
    expect(
      refusingPolicy(policies({ match: { roles: ["guest"], environments: ["other"] } }), caller),
    ).toBeUndefined();
  });

  test("an outsider who did not name the bot is not admitted by a policy for stopping, answering or approving", () => {
    const caller = { ...REQUEST, source: "GITHUB_WEBHOOK", roles: ["read"] } as const;
    const of = (actions: Policy["match"]["actions"]) =>
      aPolicy({ effect: "allow", match: { roles: ["read"], ...(actions && { actions }) } });
    const review = { ...caller, requestKind: "changes_requested" } as const;

    for (const policies of [[], [of(["cancel", "answer", "approve"])]]) {
      expect(refusingPolicy(policies, review)).toMatchObject({ builtin: true, effect: "deny" });
      expect(refusingPolicy(policies, { ...caller, requestKind: "mention" })).toBeUndefined();
    }
    expect(refusingPolicy([of(["follow_up"])], review)).toBeUndefined();
    expect(refusingPolicy([of(undefined)], review)).toBeUndefined();
  });

  test.each(["CLI", "GITHUB_ACTION", "LOCAL"] as const)(
    "a policy for the API applies to callers that claim to be %s, unless it allows",
    (source) => {
      const effects = (["deny", "require_approval", "allow"] as const).map((effect) => {
        const { policy } = evaluatePolicies([aPolicy({ effect, match: { sources: ["API"] } })], {
          ...REQUEST,
          source,
        });
        return policy?.effect;
      });

      expect(effects).toEqual(["deny", "require_approval", "allow"]);
    },
  );

  test.each<[keyof PolicyMatch, PolicyMatch, PolicyMatch]>([
    ["actions", { actions: ["create", "cancel"] }, { actions: ["cancel"] }],
    ["sources", { sources: ["SLACK"] }, { sources: ["API"] }],
    ["integrations", { integrations: ["slack"] }, { integrations: ["github"] }],
    ["installations", { installations: ["T1"] }, { installations: ["T2"] }],
    ["places", { places: ["c-*"] }, { places: ["d-*"] }],
    ["requestKinds", { requestKinds: ["mention", "review"] }, { requestKinds: ["command"] }],
    ["principals", { principals: [ADA] }, { principals: ["x" as PrincipalId] }],
    ["principalTypes", { principalTypes: ["user"] }, { principalTypes: ["service_account"] }],
    ["environments", { environments: ["env-1"] }, { environments: ["env-2"] }],
    ["agents", { agents: ["codex"] }, { agents: ["demo"] }],
    ["roles", { roles: ["guest", "member"] }, { roles: ["guest"] }],
    ["groups", { groups: ["platform"] }, { groups: ["sales"] }],
    ["models", { models: ["big"] }, { models: ["small"] }],
    ["priorities", { priorities: ["high", "low"] }, { priorities: ["normal"] }],
    ["repositories", { repositories: ["acme/lex*"] }, { repositories: ["acme/printer"] }],
    ["relation", { relation: "own" }, { relation: "others" }],
  ])("a policy with several %s matches if one of them does", (condition, holding, failing) => {
    expect(evaluatePolicies([aPolicy({ match: holding })], REQUEST).effect).toBe("deny");
    const verdict = evaluatePolicies([aPolicy({ match: failing })], REQUEST);
    expect(verdict.effect).toBe("allow");
    expect(verdict.considered[0]).toMatchObject({ mismatch: condition });
  });

  test("a condition on an unknown value does not match", () => {
    const match = { environments: ["env-1"], places: ["*"] };

    expect(evaluatePolicies([aPolicy({ match })], { action: "create", source: "API" }).effect).toBe("allow");
  });

  test("a policy that requires approval applies to new runs, follow-ups and steering only", () => {
    const policies = [aPolicy({ effect: "require_approval" })];

    const effects = POLICY_ACTIONS.map((action) => evaluatePolicies(policies, { ...REQUEST, action }).effect);

    const waits = "require_approval";
    expect(effects).toEqual([waits, waits, waits, "allow", "allow", "deny"]);
  });

  test("a policy that allows everything permits no approving, and one that names approving does", () => {
    const action = { ...REQUEST, action: "approve" } as const;
    const all = aPolicy({ effect: "allow" });
    const named = aPolicy({ effect: "allow", match: { actions: ["approve"], principals: [ADA] } });

    expect([evaluatePolicies([all], action).effect, evaluatePolicies([all, named], action).effect]).toEqual([
      "deny",
      "allow",
    ]);
  });

  test("a policy that denies everything denies approving to administrators too", () => {
    expect(
      evaluatePolicies([aPolicy()], { ...REQUEST, action: "approve", roles: ["administrator"] }).effect,
    ).toBe("deny");
  });
});

describe("a policy for follow-ups", () => {
  const steer = { ...REQUEST, action: "steer" } as const;
  const forFollowUps = aPolicy({ match: { actions: ["follow_up"] } });

  test("a policy for follow-ups applies to steering", () => {
    const everything = aPolicy({ effect: "allow" });

    expect(evaluatePolicies([forFollowUps, everything], steer).policy).toBe(forFollowUps);
  });

  test("a policy for follow-ups does not apply to steering where a policy for steering matches", () => {
    const forSteering = aPolicy({ effect: "allow", match: { actions: ["steer"], principals: [ADA] } });

    const { considered, effect } = evaluatePolicies([forFollowUps, forSteering], steer);

    expect(effect).toBe("allow");
    expect(considered).toEqual([{ policy: forFollowUps, mismatch: "actions" }, { policy: forSteering }]);
  });

  test("a policy for steering that does not match leaves the one for follow-ups in force", () => {
    const forOthers = aPolicy({ effect: "allow", match: { actions: ["steer"], relation: "others" } });

    expect(evaluatePolicies([forFollowUps, forOthers], steer).policy).toBe(forFollowUps);
  });

  test("a policy for steering does not beat an earlier policy for everything", () => {
    const everything = aPolicy();
    const forSteering = aPolicy({ effect: "allow", match: { actions: ["steer"] } });

    expect(evaluatePolicies([everything, forSteering], steer).policy).toBe(everything);
  });
});

test("a policy that allows a repository does not allow a run with another one too", () => {
  const allows = aPolicy({ effect: "allow", match: { repositories: ["acme/parser"] } });

  expect(evaluatePolicies([allows, aPolicy()], REQUEST).effect).toBe("deny");
  const alone = { ...REQUEST, repositories: ["acme/parser"] };
  expect(evaluatePolicies([allows, aPolicy()], alone).effect).toBe("allow");
});

describe("a refusal", () => {
  test("a refusal has the reason of the policy, or else its name", () => {
    const refuse = (reason?: string) => () =>
      requireAllowed(
        evaluatePolicies(
          [aPolicy({ name: "no-prod", ...(reason === undefined ? {} : { reason }) })],
          REQUEST,
        ),
      );

    expect(refuse("Ask Bob first.")).toThrow("Ask Bob first.");
    expect(refuse()).toThrow('The policy "no-prod" says so.');
    expect(refuse()).toThrow(expect.objectContaining({ code: "not_authorized", retryable: false }));
  });

  test("an allowed action and one that waits for approval are not refused", () => {
    for (const effect of ["allow", "require_approval"] as const) {
      expect(() => requireAllowed(evaluatePolicies([aPolicy({ effect })], REQUEST))).not.toThrow();
    }
  });
});
