import type { PrincipalId, RunId, TeamId } from "../../../../src/core/basics/ids.ts";
import type { ApiKey } from "../../../../src/core/model/people/api-key.ts";
import type { DeviceCode, DeviceCodeHashes } from "../../../../src/core/model/people/device-code.ts";
import type { IdentityLink } from "../../../../src/core/model/people/identity.ts";
import type { Installation } from "../../../../src/core/model/people/installation.ts";
import type { Principal } from "../../../../src/core/model/people/principal.ts";
import type { ShareLink } from "../../../../src/core/model/people/share-link.ts";
import type { SignIn } from "../../../../src/core/model/people/sign-in.ts";
import { FIRST_TEAM, type Team } from "../../../../src/core/model/people/team.ts";
import type { TeamRecord } from "../../../../src/core/model/people/team-record.ts";
import type { RunEvent } from "../../../../src/core/model/runs/events.ts";
import type { FollowUp } from "../../../../src/core/model/runs/follow-up.ts";
import type { DraftComment } from "../../../../src/core/model/runs/line-comment.ts";
import type { Run } from "../../../../src/core/model/runs/run.ts";
import type { Notice } from "../../../../src/core/model/threads/notice.ts";
import type { StoredThread } from "../../../../src/core/model/threads/thread.ts";
import type { Quota } from "../../../../src/core/model/usage/quota.ts";
import type {
  NewWebhookDelivery,
  WebhookDeliveryState,
  WebhookTry,
} from "../../../../src/core/model/webhooks/webhook.ts";
import type { LiveWorker } from "../../../../src/core/model/workers/worker.ts";
import type { Artifact } from "../../../../src/core/model/workspaces/artifact.ts";
import type { InputFile } from "../../../../src/core/model/workspaces/input-file.ts";
import type { RepositoryChanges } from "../../../../src/core/model/workspaces/repository-changes.ts";
import type { LoggedEvent } from "../../../../src/core/ports/stores/event-log.ts";
import type { IdempotentResponse } from "../../../../src/core/ports/stores/idempotency-store.ts";
import type { InboxResult } from "../../../../src/core/ports/stores/inbox-store.ts";
import type { SignInLink, SignInSecrets } from "../../../../src/core/ports/stores/sign-in-store.ts";
import type { InboxEvent } from "../../../../src/core/ports/thread-adapter.ts";
import type { PaceState, Reservation } from "../../../../src/core/threads/outbox/pace.ts";

export interface RunRow {
  readonly run: Run;
  /** In milliseconds of the clock; undefined without a lease. */
  readonly leaseUntil?: number;
  /** The API key of the request that created the run. */
  readonly apiKeyId?: string;
  /** How often the run has changed. */
  readonly version?: number;
}

export interface InboxRow
  extends Partial<
    Pick<InboxResult, "disposition" | "reason" | "revision" | "runId" | "teamId" | "waitsWith">
  > {
  readonly event: InboxEvent;
  /** The order in which events arrived. */
  readonly seq: bigint;
  readonly failures: number;
  /** In milliseconds of the clock. */
  readonly bodyKeptSince?: number;
}

export interface DeliveryRow {
  readonly id: string;
  readonly threadId: string;
  readonly messageKey: string;
  readonly notice: Notice;
  readonly state: "waiting" | "sent" | "replaced" | "dead";
  readonly tries: number;
  readonly earlierTries: number;
  readonly error?: string;
  readonly dueAt: number;
  readonly reservation?: Reservation;
  readonly runId?: RunId;
  readonly createdAt: number;
  readonly deliveredAt?: number;
  readonly permalink?: string;
}

export interface WebhookRow extends NewWebhookDelivery {
  readonly state: WebhookDeliveryState;
  readonly tries: number;
  readonly step: number;
  readonly error?: string;
  readonly dueAt: number;
  readonly createdAt: number;
  readonly settledAt?: number;
  readonly history: readonly WebhookTry[];
}

/** All times are milliseconds of the clock. */
export interface QueuedRun {
  readonly disk?: string;
  readonly othersAfter?: number;
  readonly reservedUntil?: number;
}

export type StoredSignIn = SignIn & SignInSecrets;

/** Rows are replaced and never changed, so that a copy of the maps is a copy of everything. */
export interface Tables {
  readonly runs: Map<RunId, RunRow>;
  readonly events: Map<RunId, readonly RunEvent[]>;
  /** The same in the order of commit. */
  log: readonly LoggedEvent[];
  /** The part of the log that webhook deliveries were made of. */
  logTold: number;
  readonly followUps: Map<string, FollowUp>;
  readonly inputs: Map<RunId, readonly InputFile[]>;
  readonly artifacts: Map<string, Artifact>;
  readonly changes: Map<RunId, readonly RepositoryChanges[]>;
  readonly threads: Map<string, StoredThread>;
  /** All threads that each run was ever bound to. */
  readonly threadRuns: Map<RunId, readonly string[]>;
  /** The runs and threads, `RUN THREAD`, where a run does not show its card. */
  readonly cardless: Set<string>;
  readonly inbox: Map<string, InboxRow>;
  readonly meanings: Set<string>;
  /** By adapter. */
  readonly eventRecoveries: Map<string, { readonly begunAt: number; readonly cursor?: string }>;
  readonly deliveries: Map<string, DeliveryRow>;
  /** By thread and message key. */
  readonly receipts: Map<string, string>;
  /** By the key of a limit. */
  readonly paces: Map<string, PaceState>;
  readonly teams: Map<TeamId, Team>;
  readonly quotas: Map<TeamId, readonly Quota[]>;
  /** By waiting run, what the run itself does not say. */
  readonly queue: Map<RunId, QueuedRun>;
  /** When a run of the team, or of a member of it, was last claimed. */
  readonly queueHeads: Map<string, number>;
  /** Deleted runs, which still count for the quotas of their teams. */
  readonly deletedRuns: Map<RunId, RunRow>;
  readonly principals: Map<PrincipalId, Principal>;
  /** By team and subject. */
  readonly identities: Map<string, IdentityLink>;
  /** By hash. */
  readonly keys: Map<string, ApiKey>;
  /** By adapter and its own id. */
  readonly installations: Map<string, Installation>;
  /** By the token's hash. */
  readonly draftComments: Map<string, DraftComment>;
  readonly shareLinks: Map<string, ShareLink>;
  /** By the token's hash. */
  readonly signIns: Map<string, StoredSignIn>;
  /** By the token's hash. */
  readonly signInLinks: Map<string, SignInLink>;
  readonly deviceCodes: Map<string, DeviceCode & DeviceCodeHashes>;
  readonly answers: Map<string, IdempotentResponse>;
  readonly webhooks: Map<string, WebhookRow>;
  /** By kind and id. */
  readonly records: Map<string, TeamRecord>;
  readonly workers: Map<string, LiveWorker>;
}

export function emptyTables(): Tables {
  return {
    runs: new Map(),
    events: new Map(),
    log: [],
    logTold: 0,
    followUps: new Map(),
    inputs: new Map(),
    artifacts: new Map(),
    changes: new Map(),
    threads: new Map(),
    threadRuns: new Map(),
    cardless: new Set(),
    inbox: new Map(),
    meanings: new Set(),
    eventRecoveries: new Map(),
    deliveries: new Map(),
    receipts: new Map(),
    paces: new Map(),
    teams: new Map([[FIRST_TEAM, { id: FIRST_TEAM, name: "Team", sharing: "off", createdAt: new Date(0) }]]),
    quotas: new Map(),
    queue: new Map(),
    queueHeads: new Map(),
    deletedRuns: new Map(),
    principals: new Map(),
    identities: new Map(),
    keys: new Map(),
    installations: new Map(),
    draftComments: new Map(),
    shareLinks: new Map(),
    signIns: new Map(),
    signInLinks: new Map(),
    deviceCodes: new Map(),
    answers: new Map(),
    webhooks: new Map(),
    records: new Map(),
    workers: new Map(),
  };
}

export function copyOf(tables: Tables): Tables {
  return {
    runs: new Map(tables.runs),
    events: new Map(tables.events),
    log: tables.log,
    logTold: tables.logTold,
    followUps: new Map(tables.followUps),
    inputs: new Map(tables.inputs),
    artifacts: new Map(tables.artifacts),
    changes: new Map(tables.changes),
    threads: new Map(tables.threads),
    threadRuns: new Map(tables.threadRuns),
    cardless: new Set(tables.cardless),
    inbox: new Map(tables.inbox),
    meanings: new Set(tables.meanings),
    eventRecoveries: new Map(tables.eventRecoveries),
    deliveries: new Map(tables.deliveries),
    receipts: new Map(tables.receipts),
    paces: new Map(tables.paces),
    teams: new Map(tables.teams),
    quotas: new Map(tables.quotas),
    queue: new Map(tables.queue),
    queueHeads: new Map(tables.queueHeads),
    deletedRuns: new Map(tables.deletedRuns),
    principals: new Map(tables.principals),
    identities: new Map(tables.identities),
    keys: new Map(tables.keys),
    installations: new Map(tables.installations),
    draftComments: new Map(tables.draftComments),
    shareLinks: new Map(tables.shareLinks),
    signIns: new Map(tables.signIns),
    signInLinks: new Map(tables.signInLinks),
    deviceCodes: new Map(tables.deviceCodes),
    answers: new Map(tables.answers),
    webhooks: new Map(tables.webhooks),
    records: new Map(tables.records),
    workers: new Map(tables.workers),
  };
}
