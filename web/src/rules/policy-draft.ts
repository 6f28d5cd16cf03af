import type { Policy, PolicyMatch, PolicyRequest } from "@errand/client";
import type { Issue } from "../edit/issues.ts";
import { emptyConditions, type MatchDraft, matchDraftOf, matchOf, POLICY_CONDITIONS } from "./conditions.ts";
import { type RuleDraft, ruleDraftOf, ruleIssuesOf, ruleRequestOf } from "./rule-draft.ts";

/** A policy as the user edits it. */
export interface PolicyDraft extends RuleDraft {
  readonly effect: Policy["effect"];
  readonly match: MatchDraft;
  readonly reason: string;
  /** How a refused message is answered. Empty: the default. */
  readonly refusal: NonNullable<Policy["refusal"]> | "";
}

export function policyDraftOf(policy: Policy | undefined): PolicyDraft {
  const { effect = "require_approval", match = {}, reason = "", refusal = "" } = policy ?? {};
  return { ...ruleDraftOf(policy), effect, match: matchDraftOf(match), reason, refusal };
}

export function policyIssuesOf(draft: PolicyDraft): readonly Issue[] {
  return [...ruleIssuesOf(draft), ...emptyConditions(draft.match)];
}

export function policyRequestOf(draft: PolicyDraft): PolicyRequest {
  const { effect, match, reason, refusal } = draft;
  return {
    ...ruleRequestOf(draft),
    effect,
    match: matchOf(match, POLICY_CONDITIONS) as PolicyMatch,
    ...(reason.trim() === "" ? {} : { reason: reason.trim() }),
    ...(refusal && effect === "deny" ? { refusal } : {}),
  };
}
