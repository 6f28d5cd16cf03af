import type { Viewer } from "../../core/people/principal.ts";
import type { RunStore } from "../../core/ports/storage.ts";
import type { RunEvent, RunEventBody } from "../../core/runs/events.ts";

type Log = Pick<RunStore, "readEvents">;

/** Who reads a log: the guests of a share link are told less. */
export type Audience = "members" | "guests";

export function audienceOf({ onlyRunId }: Viewer): Audience {
  return onlyRunId === undefined ? "members" : "guests";
}

/** The logs of `runs` as they are told to this audience. Whether they may be read at all is settled before. */
export function toldLog(runs: Log, audience: Audience): Log {
  if (audience === "members") return runs;
  return { readEvents: async (...given) => (await runs.readEvents(...given)).map(forGuest) };
}

/** In the place of what a guest is not told and every such event has. */
const UNTOLD = "";

function forGuest(event: RunEvent): RunEvent {
  return { ...event, body: bodyForGuest(event.body) };
}

/** Without what the item of the run does not tell a guest either: who decided and why, the costs, and whose machine it was. */
function bodyForGuest(body: RunEventBody): RunEventBody {
  switch (body.kind) {
    case "attempt.started":
      return { ...body, worker: UNTOLD };
    case "approval.requested":
      return { ...body, policyId: UNTOLD, reason: UNTOLD };
    case "approval.decided":
      return { kind: body.kind, approved: body.approved, decidedBy: UNTOLD };
    case "agent.usage":
      return { kind: body.kind, used: body.used, size: body.size };
    case "turn.ended":
      return { kind: body.kind, stopReason: body.stopReason, answer: body.answer };
    default:
      return body;
  }
}
