import { AppError } from "../errors.ts";
import type { PrincipalId, TeamId } from "../ids.ts";
import { INTEGRATION_SOURCES } from "../runs/sources.ts";
import { OUTSIDER_ROLES, POLICY_ACTIONS, type Policy } from "./policy.ts";

/** Policies of a team have a lower number, so that each of them is evaluated before the built-in ones. */
const PRIORITY = 1_000_001;
const BUILT_IN_AT = new Date(0);
const ONLY_ADMINISTRATORS = "Without a policy that allows it by name, only administrators approve.";

/** What applies where no policy of the team matches, in order. They are the same in every team. */
export const BUILTIN_POLICIES: readonly Policy[] = [
  builtin(4, {
    name: "Built in: outsiders of a workspace or repository do nothing",
    effect: "deny",
    match: { sources: INTEGRATION_SOURCES, roles: OUTSIDER_ROLES },
    reason: "Only members of the workspace and people who can write to the repository may do this.",
  }),
  builtin(1, {
    name: "Built in: everything but approving is allowed",
    effect: "allow",
    match: { actions: POLICY_ACTIONS.filter((action) => action !== "approve") },
    reason: "No policy matches, so it is allowed.",
  }),
  builtin(2, {
    name: "Built in: administrators approve",
    effect: "allow",
    match: { actions: ["approve"], roles: ["administrator"] },
    reason: ONLY_ADMINISTRATORS,
  }),
  builtin(3, {
    name: "Built in: nobody else approves",
    effect: "deny",
    match: { actions: ["approve"] },
    reason: ONLY_ADMINISTRATORS,
  }),
];

export function findBuiltinPolicy(id: string): Policy | undefined {
  return BUILTIN_POLICIES.find((policy) => policy.id === id);
}

/** Throws if `id` is that of a built-in policy. */
export function requireChangeable(id: string): void {
  if (findBuiltinPolicy(id) !== undefined) {
    throw new AppError("conflict", "A built-in policy cannot be changed or deleted.", {
      retryable: false,
      remedy:
        "Create a policy for the same action. Every policy of the team is evaluated before the built-in ones.",
    });
  }
}

function builtin(number: number, policy: Pick<Policy, "name" | "effect" | "match" | "reason">): Policy {
  return {
    ...policy,
    id: `00000000-0000-4000-8000-00000000000${number}`,
    teamId: "" as TeamId,
    creatorId: "" as PrincipalId,
    priority: PRIORITY,
    enabled: true,
    builtin: true,
    createdAt: BUILT_IN_AT,
    updatedAt: BUILT_IN_AT,
  };
}
