import { defined } from "../../core/basics/defined.ts";
import type { Viewer } from "../../core/model/people/principal.ts";
import type { RunEvent, RunEventBody, RunEventKind } from "../../core/model/runs/events.ts";
import type { RunStore } from "../../core/ports/stores/run-store.ts";
import { statusForGuest } from "../auth/guest-view.ts";

type Log = Pick<RunStore, "readEvents" | "readEventsBefore">;
type Body<Kind extends RunEventKind> = Extract<RunEventBody, { readonly kind: Kind }>;

/** The readers of a log. Guests of a share link see less than members. */
export type Audience = "members" | "guests";

export function audienceOf({ onlyRunId }: Viewer): Audience {
  return onlyRunId === undefined ? "members" : "guests";
}

/** Returns the logs of `runs` as this audience may see them. Does not check access to the run. */
export function visibleLog(runs: Log, audience: Audience): Log {
  if (audience === "members") {
    return runs;
  }
  return {
    readEvents: async (...args) => (await runs.readEvents(...args)).map(forGuest),
    readEventsBefore: async (...args) => (await runs.readEventsBefore(...args)).map(forGuest),
  };
}

/** Of an event that a newer version of the server wrote, guests see only that there is one. */
function forGuest(event: RunEvent): RunEvent {
  const { body } = event;
  const toVisible = VISIBLE_TO_GUESTS[body.kind] as ((body: RunEventBody) => RunEventBody) | undefined;
  return { ...event, body: toVisible?.(body) ?? ({ kind: body.kind } as RunEventBody) };
}

/** Replaces a required member that guests may not see. */
const HIDDEN = "";
const whole = <T>(body: T): T => body;

/**
 * What guests see of each kind of event: the progress of the run and its messages. They do not see who decided and
 * why, costs, names of machines, or messages to the team.
 */
const VISIBLE_TO_GUESTS: { readonly [Kind in RunEventKind]: (body: Body<Kind>) => Body<Kind> } = {
  "run.created": whole,
  "run.state": ({ kind, from, to, status }) => {
    const shown = statusForGuest(status, status?.errorCode);
    return defined({ kind, from, to, status: shown });
  },
  "run.updated": whole,
  "attempt.started": ({ kind, attempt }) => ({ kind, attempt, worker: HIDDEN }),
  "attempt.ended": ({ kind, attempt }) => ({ kind, attempt, reason: HIDDEN }),
  "workspace.step": whole,
  "workspace.ready": ({ kind, restored }) => ({ kind, restored }),
  "workspace.stored": ({ kind }) => ({ kind, checkpoint: HIDDEN }),
  "workspace.not_stored": ({ kind }) => ({ kind, reason: HIDDEN }),
  "changes.not_kept": ({ kind }) => ({ kind, reason: HIDDEN }),
  "agent.started": ({ kind, agent, version, resumed }) => ({
    kind,
    agent,
    resumed,
    session: HIDDEN,
    ...defined({ version }),
  }),
  "turn.started": whole,
  "turn.ended": ({ kind, answer, data, stopReason }) => ({ kind, answer, stopReason, ...defined({ data }) }),
  "turn.rated": (body) => ({ ...body, ratedBy: HIDDEN }),
  "followup.received": whole,
  "followup.edited": ({ kind, followUpId, message }) => ({ kind, followUpId, message, editedBy: HIDDEN }),
  "followup.withdrawn": ({ kind, followUpId }) => ({ kind, followUpId, withdrawnBy: HIDDEN }),
  "followup.steered": whole,
  "followup.queued": whole,
  "permission.requested": whole,
  "permission.answered": whole,
  "approval.requested": ({ kind, followUpId }) => ({
    kind,
    policyId: HIDDEN,
    reason: HIDDEN,
    ...defined({ followUpId }),
  }),
  "approval.decided": ({ kind, approved, followUpId }) => ({
    kind,
    approved,
    decidedBy: HIDDEN,
    ...defined({ followUpId }),
  }),
  "notice.dead": ({ kind, adapter }) => ({
    kind,
    adapter,
    threadId: HIDDEN,
    noticeId: HIDDEN,
    reason: HIDDEN,
  }),
  "thread.bound": ({ kind, adapter }) => ({ kind, adapter, threadId: HIDDEN }),
  "artifact.added": whole,
  "artifact.left_out": whole,
  "agent.message": whole,
  "agent.thought": whole,
  "agent.tool_call": whole,
  "agent.plan": whole,
  "agent.usage": ({ kind, size, used }) => ({ kind, size, used }),
  "agent.title": whole,
  "agent.notice": whole,
  "agent.permission_granted": whole,
  // Unknown information of the agent may contain costs.
  "agent.other": ({ kind, name }) => ({ kind, name, data: null }),
};
