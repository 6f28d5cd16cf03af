import type { TeamId } from "../ids.ts";
import type { Principal } from "../people/principal.ts";
import type { InboxDeps } from "./message-context.ts";

const NAMES_MAX = 3;

export interface Refusal {
  readonly reason: string;
  /** The policy that refused. Absent: no policy can allow it. */
  readonly policyName?: string | undefined;
}

/** A refusal with its rule and with the people who can change that. Only its author may read it. */
export async function refusalText(
  { policyName, reason }: Refusal,
  teamId: TeamId,
  { people }: Pick<InboxDeps["storage"], "people">,
): Promise<string> {
  if (policyName === undefined) {
    return reason;
  }
  return `${reason} The rule is “${policyName}”. ${namesOf(await people.list(teamId))} can change the rules.`;
}

function namesOf(people: readonly Principal[]): string {
  const names = people.flatMap(({ administrator, disabled, displayName, type }) =>
    administrator && !disabled && type === "user" && displayName !== undefined ? [displayName] : [],
  );
  const [first, ...more] = names.slice(0, NAMES_MAX).toReversed();
  if (first === undefined) {
    return "An administrator";
  }
  return more.length === 0 ? first : `${more.toReversed().join(", ")} and ${first}`;
}
