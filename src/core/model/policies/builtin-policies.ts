import { AppError } from "../../basics/errors.ts";
import type { PrincipalId, TeamId } from "../../basics/ids.ts";
import { CHAT_SOURCES, INTEGRATION_SOURCES, REPOSITORY_SOURCES } from "../runs/sources.ts";
import {
  ACTIONS_WITH_WORDS,
  OUTSIDER_ROLES,
  POLICY_ACTIONS,
  type Policy,
  type PolicyAction,
  REQUEST_KINDS,
  type RequestKind,
  type Role,
  UNADDRESSED_KINDS,
} from "./policy.ts";

/** Policies of a team have a lower number, so that each of them is evaluated before the built-in ones. */
const PRIORITY = 1_000_001;
const BUILT_IN_AT = new Date(0);
const ONLY_ADMINISTRATORS = "Without a policy that allows it by name, only administrators approve.";

/** What changes the course of a run. A follow-up only waits for its turn. */
const STEERING = ["steer", "cancel", "answer"] as const satisfies readonly PolicyAction[];

/** Who writes in the threads of a repository without the permission to push to it. */
const STRANGERS = ["read", "outside"] as const satisfies readonly Role[];
/** What a platform reports about the work of a run whose words were approved. */
const REPORTS: readonly RequestKind[] = ["failing_checks", "merge_conflict"];
/** With these, the author named the bot, or it is a report. */
const APPROVABLE = REQUEST_KINDS.filter(
  (kind) => REPORTS.includes(kind) || !UNADDRESSED_KINDS.some((other) => other === kind),
);

/** What applies where no policy of the team matches, in order. They are the same in every team. */
export const BUILTIN_POLICIES: readonly Policy[] = [
  builtin(10, {
    name: "Built in: opened pull requests are reviewed only where a policy allows it by name",
    effect: "deny",
    match: { requestKinds: ["pull_request_opened"] },
    reason: "No policy asks for reviews of opened pull requests here.",
  }),
  builtin(7, {
    name: "Built in: words of strangers in a repository wait for approval",
    effect: "require_approval",
    match: {
      sources: REPOSITORY_SOURCES,
      roles: STRANGERS,
      actions: ACTIONS_WITH_WORDS,
      requestKinds: APPROVABLE,
    },
    reason: "Its author cannot push to the repository, so a person who can has to approve it.",
  }),
  builtin(9, {
    name: "Built in: strangers in a repository stop what they asked for",
    effect: "allow",
    match: { sources: REPOSITORY_SOURCES, roles: STRANGERS, actions: ["cancel"], relation: "own" },
    reason: "It is the author's own request.",
  }),
  builtin(4, {
    name: "Built in: outsiders of a workspace or repository do nothing",
    effect: "deny",
    match: { sources: INTEGRATION_SOURCES, roles: OUTSIDER_ROLES },
    reason: "Only members of the workspace and people who can write to the repository may do this.",
  }),
  builtin(5, {
    name: "Built in: in a chat, administrators and the people whom the author mentioned steer a run",
    effect: "allow",
    match: { sources: CHAT_SOURCES, actions: STEERING, roles: ["administrator", "participant"] },
    reason: "The author of the run mentioned this person, or it is an administrator.",
  }),
  builtin(6, {
    name: "Built in: in a chat, nobody else steers the run of another person",
    effect: "deny",
    match: { sources: CHAT_SOURCES, actions: STEERING, relation: "others" },
    reason:
      "Only the person who asked, the people whom that person mentioned with me in this thread, and administrators may stop, retry or answer a run here.",
  }),
  builtin(1, {
    name: "Built in: everything except approving is allowed",
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
  builtin(8, {
    name: "Built in: people who can push to a repository approve in its threads",
    effect: "allow",
    match: { sources: REPOSITORY_SOURCES, actions: ["approve"], roles: ["write"] },
    reason: "This person can push to the repository.",
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
    id: `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`,
    teamId: "" as TeamId,
    creatorId: "" as PrincipalId,
    priority: PRIORITY,
    enabled: true,
    builtin: true,
    createdAt: BUILT_IN_AT,
    updatedAt: BUILT_IN_AT,
  };
}
