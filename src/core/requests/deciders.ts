import type { TeamId } from "../basics/ids.ts";
import type { Principal, Viewer } from "../model/people/principal.ts";
import type { RequestOrigin } from "../model/policies/request-origin.ts";
import { isVisible } from "../model/policies/visibility.ts";
import type { ListedRun } from "../model/runs/run.ts";
import { isEnded, isPaused } from "../model/runs/states.ts";
import { objectionTo } from "../runs/approval.ts";
import { type PolicyEvaluatorDeps, policyEvaluators } from "../team/policies/run-rules.ts";

/** Who may give the answer or the approval that a run waits for. */
export interface Deciders {
  readonly mayDecide: boolean;
  /** Some of the people who may, if the reader may not. */
  readonly people: readonly Principal[];
}

/** The principals of a team. */
export type ListMembers = (teamId: TeamId) => Promise<readonly Principal[]>;

export type DecidersOf = (run: ListedRun) => Promise<Deciders>;

export interface DecidersDeps extends PolicyEvaluatorDeps {
  readonly members: ListMembers;
}

/** More names help nobody. */
const PEOPLE_MAX = 5;
/** Bounds the work for a team with many members and without anyone who may decide. */
const MEMBERS_MAX = 1_000;

/** Reads the policies once for all runs. The members are read only for a viewer who may not decide. */
export async function decidersFor(
  deps: DecidersDeps,
  viewer: Viewer,
  from: RequestOrigin,
): Promise<DecidersOf> {
  const evaluatorOf = await policyEvaluators(deps, viewer.teamId, from);
  const mayDecide = (one: Viewer, run: ListedRun, decision: Decision) =>
    isVisible(run, one) &&
    evaluatorOf(one)(decision.action, run).effect !== "deny" &&
    (decision.words === undefined || objectionTo(one, run, decision.words) === undefined);
  return async (run) => {
    const decision = decisionOf(run);
    if (mayDecide(viewer, run, decision)) {
      return { mayDecide: true, people: [] };
    }
    const people: Principal[] = [];
    for (const member of inOrder(await deps.members(viewer.teamId), run)) {
      if (people.length < PEOPLE_MAX && mayDecide(member, run, decision)) {
        people.push(member);
      }
    }
    return { mayDecide: false, people };
  };
}

interface Decision {
  readonly action: "answer" | "approve";
  /** What is to be approved. */
  readonly words?: Parameters<typeof objectionTo>[2];
}

/** Whether a run waits for a person to answer or to approve. */
export function waitsForDecision(run: ListedRun): boolean {
  const { approval, permission, state, waitingFollowUp } = run;
  return state === "BLOCKED" && !isPaused(run)
    ? permission !== undefined || approval !== undefined
    : waitingFollowUp !== undefined && (isEnded(state) || isPaused(run));
}

function decisionOf(run: ListedRun): Decision {
  const { approval, state, permission, waitingFollowUp } = run;
  if (state === "BLOCKED" && permission !== undefined) {
    return { action: "answer" };
  }
  const isRequest = state === "BLOCKED" && !isPaused(run);
  const { authorIds = [] } = (isRequest ? approval : waitingFollowUp) ?? {};
  return { action: "approve", words: { authorIds, isRequest } };
}

/** The person who asked stands first, then the members who are no administrators, because a policy chose them. */
function inOrder(members: readonly Principal[], { creatorId }: ListedRun): readonly Principal[] {
  const people = members.filter(({ disabled, type }) => !disabled && type === "user");
  const rank = ({ administrator, id }: Principal) => (id === creatorId ? 0 : administrator ? 2 : 1);
  return people.toSorted((one, other) => rank(one) - rank(other)).slice(0, MEMBERS_MAX);
}
