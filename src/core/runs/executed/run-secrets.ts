import { isTeamOwned } from "../../model/people/ownership.ts";
import type { Run } from "../../model/runs/run.ts";
import type { Secret } from "../../model/secrets/secret.ts";

/**
 * The team's secrets that a run may have, and those of its creator. An approved run gets no other than those that its
 * approver saw.
 */
export function secretsOf(
  all: readonly Secret[],
  run: Pick<Run, "creatorId" | "executes" | "executorId" | "requesterId" | "secretNames">,
): { readonly teams: readonly Secret[]; readonly personal: readonly Secret[] } {
  const { creatorId, executes, executorId, requesterId, secretNames } = run;
  const approved = all.filter(({ name }) => executes === undefined || executes.secretNames.includes(name));
  const isOwn = (executorId ?? requesterId ?? secretNames) === undefined;
  return {
    teams: approved.filter(
      (secret) => isTeamOwned(secret) && (secretNames === undefined || secretNames.includes(secret.name)),
    ),
    personal: approved.filter(({ ownerId }) => isOwn && ownerId === creatorId),
  };
}
