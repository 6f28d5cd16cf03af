import type { Viewer } from "../../core/people/principal.ts";
import type { RunEvent, RunEventBody, RunEventKind } from "../../core/runs/events.ts";
import type { RunStore } from "../../core/runs/run-store.ts";
import { statusForGuest } from "../auth/guest-status.ts";

type Log = Pick<RunStore, "readEvents">;
type Body<Kind extends RunEventKind> = Extract<RunEventBody, { readonly kind: Kind }>;

/** Who reads a log: the guests of a share link are told less. */
export type Audience = "members" | "guests";

export function audienceOf({ onlyRunId }: Viewer): Audience {
  return onlyRunId === undefined ? "members" : "guests";
}

/** The logs of `runs` as they are told to this audience. Whether they may be read at all is settled before. */
export function visibleLog(runs: Log, audience: Audience): Log {
  if (audience === "members") return runs;
  return { readEvents: async (...given) => (await runs.readEvents(...given)).map(forGuest) };
}

function forGuest(event: RunEvent): RunEvent {
  const told = TOLD_TO_GUESTS[event.body.kind] as (body: RunEventBody) => RunEventBody;
  return { ...event, body: told(event.body) };
}

/** In the place of what a guest is not told and every such event has. */
const UNTOLD = "";
const whole = <T>(body: T): T => body;

/**
 * What guests are told of each kind: how the run goes, and what is said in it. Not who decided and why, what it cost, whose
 * machine it was, nor what was meant for the run's own people.
 */
const TOLD_TO_GUESTS: { readonly [Kind in RunEventKind]: (body: Body<Kind>) => Body<Kind> } = {
  "run.created": whole,
  "run.state": ({ kind, from, to, status }) => {
    const shown = statusForGuest(status, status?.errorCode);
    return { kind, from, to, ...(shown === undefined ? {} : { status: shown }) };
  },
  "attempt.started": ({ kind, attempt }) => ({ kind, attempt, worker: UNTOLD }),
  "attempt.ended": ({ kind, attempt }) => ({ kind, attempt, reason: UNTOLD }),
  "workspace.step": whole,
  "workspace.ready": whole,
  "workspace.stored": ({ kind }) => ({ kind, checkpoint: UNTOLD }),
  "workspace.not_stored": ({ kind }) => ({ kind, reason: UNTOLD }),
  "changes.not_kept": ({ kind }) => ({ kind, reason: UNTOLD }),
  "agent.started": ({ kind, agent, version, resumed }) => ({
    ...{ kind, agent, resumed, session: UNTOLD },
    ...(version === undefined ? {} : { version }),
  }),
  "turn.started": whole,
  "turn.ended": ({ kind, answer, stopReason }) => ({ kind, answer, stopReason }),
  "followup.received": whole,
  "followup.steered": whole,
  "permission.requested": whole,
  "permission.answered": whole,
  "approval.requested": ({ kind }) => ({ kind, policyId: UNTOLD, reason: UNTOLD }),
  "approval.decided": ({ kind, approved }) => ({ kind, approved, decidedBy: UNTOLD }),
  "thread.bound": ({ kind, adapter }) => ({ kind, adapter, threadId: UNTOLD }),
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
  // Whatever an agent says that we do not know: it may be its costs.
  "agent.other": ({ kind, name }) => ({ kind, name, data: null }),
};
