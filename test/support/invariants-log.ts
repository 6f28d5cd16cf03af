import type { Client } from "pg";

/** The transition table of docs/api.md, written out here and not imported from the code under test. */
const MAY_BECOME: Readonly<Record<string, readonly string[]>> = {
  QUEUED: ["PENDING", "BLOCKED", "CANCELLED"],
  PENDING: ["CLAIMED", "QUEUED", "SUCCEEDED", "FAILED", "ERROR", "CANCELLED"],
  CLAIMED: ["INPROGRESS", "QUEUED", "SUCCEEDED", "FAILED", "ERROR", "CANCELLED"],
  INPROGRESS: ["BLOCKED", "QUEUED", "SUCCEEDED", "FAILED", "ERROR", "CANCELLED"],
  BLOCKED: ["INPROGRESS", "QUEUED", "SUCCEEDED", "FAILED", "ERROR", "CANCELLED"],
  SUCCEEDED: ["QUEUED"],
  FAILED: ["QUEUED"],
  ERROR: ["QUEUED"],
  CANCELLED: ["QUEUED"],
};
const FIRST = ["QUEUED", "BLOCKED"];
const ENDED = ["SUCCEEDED", "FAILED", "ERROR", "CANCELLED"];
/** BLOCKED is not among them, because a run that waits for a user may have released its worker. */
export const MOVING = ["PENDING", "CLAIMED", "INPROGRESS"];

export interface LoggedRun {
  readonly id: string;
  readonly state: string;
  readonly last_seq: number;
  readonly events: readonly LogEntry[];
}

export interface LogEntry {
  readonly seq: number;
  readonly atMs: number;
  readonly kind: string;
  readonly body: {
    readonly state?: string;
    readonly from?: string;
    readonly to?: string;
    readonly answer?: string;
    readonly status?: { readonly message: string };
    readonly followUpId?: string;
    readonly followUpIds?: readonly string[];
    readonly threadId?: string;
  };
}

export function isEnded(state: string | undefined): boolean {
  return state !== undefined && ENDED.includes(state);
}

export async function readLogs(client: Client): Promise<readonly LoggedRun[]> {
  const { rows } = await client.query<LoggedRun>(`
    SELECT id::text, state, last_seq, coalesce((
      SELECT json_agg(json_build_object('seq', seq, 'atMs', extract(epoch FROM at) * 1000, 'kind', kind, 'body', body) ORDER BY seq)
        FROM run_events WHERE run_id = runs.id), '[]') AS events
      FROM runs`);
  return rows;
}

/** I2 and I3. */
export async function findBrokenLogs(client: Client): Promise<readonly string[]> {
  const runs = await readLogs(client);
  return runs.flatMap((run) => [...findHoles(run), ...findWrongMoves(run)]);
}

function findHoles({ id, last_seq: lastSeq, events }: LoggedRun): readonly string[] {
  const isDense = events.every(({ seq }, index) => seq === index + 1);
  const early = events.filter(({ atMs }, index) => atMs < (events[index - 1]?.atMs ?? atMs));
  return [
    ...early.map(({ seq }) => `I3 run ${id} dates event ${seq} before the event before it`),
    ...(isDense ? [] : [`I3 run ${id} has events ${events.map(({ seq }) => seq).join(", ")}`]),
    ...(lastSeq === (events.at(-1)?.seq ?? 0)
      ? []
      : [`I3 run ${id} says ${lastSeq} events, its log has others`]),
  ];
}

/** Every `from` is compared with the replay, so two ends without a continuation between them are detected as well. */
function findWrongMoves(run: LoggedRun): readonly string[] {
  const violations: string[] = [];
  const waiting = new Set<string>();
  let state: string | undefined;
  for (const { kind, body, seq } of run.events) {
    if (kind === "followup.received" && body.followUpId !== undefined) {
      waiting.add(body.followUpId);
    }
    if (kind === "turn.started") {
      for (const id of body.followUpIds ?? []) {
        waiting.delete(id);
      }
    }
    const to = kind === "run.created" ? body.state : body.to;
    if (to === undefined || (kind !== "run.created" && kind !== "run.state")) {
      continue;
    }
    if (!isAllowed(state, to) || (kind === "run.state" && body.from !== state)) {
      violations.push(`I2 run ${run.id} went from ${state} (its log says ${body.from}) to ${to} at ${seq}`);
    }
    if (isEnded(state) && waiting.size === 0) {
      violations.push(`I2 run ${run.id} left ${state} at ${seq} without a follow-up`);
    }
    state = to;
  }
  if (state === run.state) {
    return violations;
  }
  return [...violations, `I3 run ${run.id} is ${run.state}, its log replays to ${state}`];
}

function isAllowed(from: string | undefined, to: string): boolean {
  return (from === undefined ? FIRST : (MAY_BECOME[from] ?? [])).includes(to);
}
