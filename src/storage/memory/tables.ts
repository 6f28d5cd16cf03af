import type { Artifact } from "../../core/artifacts/artifact.ts";
import type { RunInput } from "../../core/inputs/run-input.ts";
import type { PrincipalId, RunId, TeamId } from "../../core/ids.ts";
import type { Disposition } from "../../core/intake/settlement.ts";
import type { ApiKey } from "../../core/people/api-key.ts";
import type { Installation } from "../../core/people/installation.ts";
import type { Principal } from "../../core/people/principal.ts";
import { FIRST_TEAM, type Team } from "../../core/people/team.ts";
import type { TeamRecord } from "../../core/ports/records.ts";
import type { InboxEvent } from "../../core/ports/thread-adapter.ts";
import type { RunEvent } from "../../core/runs/events.ts";
import type { RememberedAnswer } from "../../core/runs/remembered-answer.ts";
import type { FollowUp, Run } from "../../core/runs/run.ts";
import type { Notice } from "../../core/threads/notice.ts";
import type { Thread } from "../../core/threads/thread.ts";

export interface RunRow {
  readonly run: Run;
  /** In milliseconds of the clock; undefined without a lease. */
  readonly leaseUntil?: number;
}

export interface InboxRow {
  readonly event: InboxEvent;
  readonly failures: number;
  readonly disposition?: Disposition;
}

export interface DeliveryRow {
  readonly id: string;
  readonly threadId: string;
  readonly slot: string;
  readonly notice: Notice;
  readonly state: "waiting" | "sent" | "replaced" | "dead";
  readonly tries: number;
  readonly dueAt: number;
}

/** Rows are never changed but replaced, so that a copy of the maps is a copy of everything. */
export interface Tables {
  readonly runs: Map<RunId, RunRow>;
  readonly events: Map<RunId, readonly RunEvent[]>;
  readonly followUps: Map<string, FollowUp>;
  readonly inputs: Map<RunId, readonly RunInput[]>;
  readonly artifacts: Map<string, Artifact>;
  readonly threads: Map<string, Thread>;
  /** The threads that each run was ever bound to. */
  readonly threadRuns: Map<RunId, readonly string[]>;
  readonly inbox: Map<string, InboxRow>;
  readonly meanings: Set<string>;
  readonly deliveries: Map<string, DeliveryRow>;
  /** By thread and slot. */
  readonly receipts: Map<string, string>;
  readonly teams: Map<TeamId, Team>;
  readonly principals: Map<PrincipalId, Principal>;
  /** Principals by team and subject. */
  readonly identities: Map<string, PrincipalId>;
  /** By hash. */
  readonly keys: Map<string, ApiKey>;
  /** By adapter and its own id. */
  readonly installations: Map<string, Installation>;
  readonly answers: Map<string, RememberedAnswer>;
  /** By kind and id. */
  readonly records: Map<string, TeamRecord>;
}

export function emptyTables(): Tables {
  return {
    runs: new Map(),
    events: new Map(),
    followUps: new Map(),
    inputs: new Map(),
    artifacts: new Map(),
    threads: new Map(),
    threadRuns: new Map(),
    inbox: new Map(),
    meanings: new Set(),
    deliveries: new Map(),
    receipts: new Map(),
    teams: new Map([[FIRST_TEAM, { id: FIRST_TEAM, name: "Team", createdAt: new Date(0) }]]),
    principals: new Map(),
    identities: new Map(),
    keys: new Map(),
    installations: new Map(),
    answers: new Map(),
    records: new Map(),
  };
}

export function copyOf(tables: Tables): Tables {
  return {
    runs: new Map(tables.runs),
    events: new Map(tables.events),
    followUps: new Map(tables.followUps),
    inputs: new Map(tables.inputs),
    artifacts: new Map(tables.artifacts),
    threads: new Map(tables.threads),
    threadRuns: new Map(tables.threadRuns),
    inbox: new Map(tables.inbox),
    meanings: new Set(tables.meanings),
    deliveries: new Map(tables.deliveries),
    receipts: new Map(tables.receipts),
    teams: new Map(tables.teams),
    principals: new Map(tables.principals),
    identities: new Map(tables.identities),
    keys: new Map(tables.keys),
    installations: new Map(tables.installations),
    answers: new Map(tables.answers),
    records: new Map(tables.records),
  };
}
