import type { PrincipalId } from "../../basics/ids.ts";
import type { PrincipalType } from "../people/principal.ts";
import type { RunPriority } from "../runs/queue-class.ts";
import type { RunSource } from "../runs/sources.ts";
import type { Rule } from "./rule.ts";

/** The actions on runs that policies distinguish. `steer` is a follow-up that acts on the running turn. */
export const POLICY_ACTIONS = ["create", "follow_up", "steer", "cancel", "answer", "approve"] as const;
export type PolicyAction = (typeof POLICY_ACTIONS)[number];

/** The actions that give an agent words. Only these can wait for approval. */
export const ACTIONS_WITH_WORDS = ["create", "follow_up", "steer"] as const satisfies readonly PolicyAction[];

/**
 * What a caller is in the channel or repository of the request. Adapters prove all of them except `administrator`,
 * which is an administrator of the team, `participant`, whom the author of a run in a thread mentioned, and `guest`,
 * which is also the guest of a share link.
 */
export const ROLES = [
  "write",
  "read",
  "member",
  "guest",
  "external",
  "bot",
  "outside",
  "participant",
  "administrator",
] as const;
export type Role = (typeof ROLES)[number];

/** Callers of an integration with one of these roles may do only what a policy allows that names the role. */
export const OUTSIDER_ROLES = [
  "read",
  "guest",
  "external",
  "bot",
  "outside",
] as const satisfies readonly Role[];

/**
 * How a message asks for work. With the last five nobody named the bot: a review requested changes of a pull request of
 * a run, its checks fail, or it has a merge conflict; a pull request was opened, or one that is reviewed has new commits.
 */
export const REQUEST_KINDS = [
  "mention",
  "command",
  "description",
  "review",
  "review_requested",
  "label",
  "changes_requested",
  "failing_checks",
  "merge_conflict",
  "pull_request_opened",
  "new_commits",
] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];
/** Nobody waits for an answer to these. */
export const UNADDRESSED_KINDS = [
  "changes_requested",
  "failing_checks",
  "merge_conflict",
  "pull_request_opened",
  "new_commits",
] as const satisfies readonly RequestKind[];

/** Whether the run is the caller's own: the caller created, requested or executes it. */
export const RELATIONS = ["own", "others"] as const;
export type Relation = (typeof RELATIONS)[number];

export const POLICY_EFFECTS = ["allow", "deny", "require_approval"] as const;
export type PolicyEffect = (typeof POLICY_EFFECTS)[number];

/** How a refused message is answered in its thread. */
export const REFUSAL_SIGNS = ["comment", "reaction", "silent"] as const;
export type RefusalSign = (typeof REFUSAL_SIGNS)[number];

/** Says who may do what from where. The first policy that matches decides; the built-in ones come last. */
export interface Policy extends Rule {
  /** `require_approval` applies only to words for an agent: they wait for approval before the agent gets them. */
  readonly effect: PolicyEffect;
  readonly match: PolicyMatch;
  /** Shown to the caller who is refused or has to wait. */
  readonly reason?: string;
  /** How a message that it refuses is answered in its thread. Default: as the repository says, otherwise by a comment. */
  readonly refusal?: RefusalSign;
  /** One of the defaults. It cannot be changed. */
  readonly builtin?: true;
}

/**
 * All given conditions must hold; of each list, one value is enough. A condition about an unknown value does not
 * hold.
 */
export interface PolicyMatch {
  readonly actions?: readonly PolicyAction[] | undefined;
  readonly sources?: readonly RunSource[] | undefined;
  /** Names of adapters. */
  readonly integrations?: readonly string[] | undefined;
  /** The platforms' own ids. */
  readonly installations?: readonly string[] | undefined;
  /** Globs on the place: the channel or repository in which the request is made, as its adapter names it. */
  readonly places?: readonly string[] | undefined;
  /** Only messages of integrations that tell them apart have one. */
  readonly requestKinds?: readonly RequestKind[] | undefined;
  readonly principals?: readonly PrincipalId[] | undefined;
  readonly principalTypes?: readonly PrincipalType[] | undefined;
  readonly environments?: readonly string[] | undefined;
  /** Names of the agent catalogue. */
  readonly agents?: readonly string[] | undefined;
  /** A policy that allows something or requires approval applies to outsiders only if it names one of their roles. */
  readonly roles?: readonly Role[] | undefined;
  /** The platforms' own ids of programs that write messages. */
  readonly bots?: readonly string[] | undefined;
  /** Names of groups, as the identity provider of the sign-in with OpenID Connect names them. */
  readonly groups?: readonly string[] | undefined;
  /** Ids of models that the configuration names. */
  readonly models?: readonly string[] | undefined;
  readonly priorities?: readonly RunPriority[] | undefined;
  /** Globs on `owner/name`. A policy that allows needs all repositories of the run to match, any other one of them. */
  readonly repositories?: readonly string[] | undefined;
  readonly relation?: Relation | undefined;
  /** A policy with this condition decides on no action: it says which CI workflows may get a key of its principal. */
  readonly workflow?: WorkflowMatch | undefined;
}

/** CI workflows, by what the token says with which the platform lets them prove it. */
export interface WorkflowMatch {
  /** The URL of the issuer of the token, exactly as the token names it. */
  readonly issuer: string;
  /** Whom the token is for. Default: this server's public URL. */
  readonly audience?: string | undefined;
  readonly repositoryIds: readonly string[];
  /** Globs such as `refs/heads/*`. */
  readonly refs: readonly string[];
  /** What starts the workflow, such as `push`. */
  readonly events: readonly string[];
}
