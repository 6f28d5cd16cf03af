import type { TeamId } from "../../basics/ids.ts";
import type { Principal } from "../../model/people/principal.ts";
import { evaluatePolicies, isOutsider, mayAdmit } from "../../model/policies/evaluate-policies.ts";
import type { RequestOrigin } from "../../model/policies/request-origin.ts";
import type { Authorization } from "../../ports/thread-adapter.ts";
import type { InboxDeps } from "./message-context.ts";
import type { Refusal } from "./message-refusal.ts";

const NO_ACCESS = "You have no access here.";
const DISABLED = "An administrator has switched your account here off.";

/** The author whom a platform allowed, as a principal of the team, or why nothing is done for them. */
export async function admitAuthor(
  { author, refusal = NO_ACCESS }: Extract<Authorization, { readonly allowed: true }>,
  { from, teamId }: { readonly from: RequestOrigin; readonly teamId: TeamId },
  {
    policies,
    storage,
  }: Pick<InboxDeps, "policies"> & { readonly storage: Pick<InboxDeps["storage"], "people"> },
): Promise<{ readonly author: Principal } | { readonly refusal: Refusal }> {
  // Decided before the author becomes a principal: otherwise every stranger on a public platform would be one.
  if (isOutsider(from) && !mayAdmit(await policies.of(teamId), from)) {
    const { policy } = evaluatePolicies([], { ...from, action: "create" });
    return { refusal: { reason: refusal, policyName: policy.name } };
  }
  const principal = await storage.people.ensure(teamId, author.subject, author.displayName);
  return principal.disabled ? { refusal: { reason: DISABLED } } : { author: principal };
}
