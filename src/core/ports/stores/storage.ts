import type { NamedAgent } from "../../model/defaults/named-agent.ts";
import type { RequestDefaults, RoutingRule } from "../../model/defaults/request-defaults.ts";
import type { AuditContext } from "../../model/people/audit.ts";
import type { Policy } from "../../model/policies/policy.ts";
import type { Schedule } from "../../model/schedules/schedule.ts";
import type { McpServer } from "../../model/secrets/mcp-server.ts";
import type { Secret } from "../../model/secrets/secret.ts";
import type { Environment } from "../../model/workspaces/environment.ts";
import type { AuditLog } from "./audit-log.ts";
import type { ClaimStore, LeaseStore } from "./claim-store.ts";
import type { DraftCommentStore } from "./draft-comment-store.ts";
import type { DueSchedules } from "./due-schedules.ts";
import type { EventLog, EventRecoveryStore } from "./event-log.ts";
import type { FileStore } from "./file-store.ts";
import type { FollowUpStore } from "./follow-up-store.ts";
import type { IdempotencyStore } from "./idempotency-store.ts";
import type { InboxList, InboxStore } from "./inbox-store.ts";
import type { NoticeLog } from "./notice-log.ts";
import type { OutboxStore } from "./outbox-store.ts";
import type {
  AdministratorKeys,
  IdentityStore,
  InstallationStore,
  KeyStore,
  PeopleStore,
  TeamStore,
} from "./people-stores.ts";
import type { PrincipalJoinStore } from "./principal-joins.ts";
import type { QuotaStore } from "./quota-store.ts";
import type { RecordStore } from "./record-store.ts";
import type { RunReports } from "./run-query.ts";
import type { RunStore } from "./run-store.ts";
import type { ShareLinkStore } from "./share-link-store.ts";
import type { DeviceCodeStore, SignInLinkStore, SignInStore } from "./sign-in-store.ts";
import type { SkillHistory } from "./skill-history.ts";
import type { ThreadStore } from "./thread-store.ts";
import type { WebhookStorage } from "./webhook-stores.ts";
import type { WorkerStore } from "./worker-store.ts";

/** Everything that must outlive a process. Each method is one transaction. */
export interface Storage {
  readonly runs: RunStore;
  readonly followUps: FollowUpStore;
  readonly eventLog: EventLog;
  readonly leases: LeaseStore;
  readonly claims: ClaimStore;
  readonly threads: ThreadStore;
  readonly inbox: InboxStore;
  readonly eventRecoveries: EventRecoveryStore;
  readonly outbox: OutboxStore;
  readonly teams: TeamStore;
  readonly quotas: QuotaStore;
  readonly people: PeopleStore;
  readonly identities: IdentityStore;
  readonly principalJoins: PrincipalJoinStore;
  readonly keys: KeyStore;
  readonly namedAgents: RecordStore<NamedAgent>;
  readonly administrators: AdministratorKeys;
  readonly installations: InstallationStore;
  readonly draftComments: DraftCommentStore;
  readonly shareLinks: ShareLinkStore;
  readonly signIns: SignInStore;
  readonly signInLinks: SignInLinkStore;
  readonly deviceCodes: DeviceCodeStore;
  readonly idempotentResponses: IdempotencyStore;
  readonly files: FileStore;
  readonly skillHistory: SkillHistory;
  readonly webhooks: WebhookStorage;
  readonly environments: RecordStore<Environment>;
  readonly secrets: RecordStore<Secret>;
  readonly mcpServers: RecordStore<McpServer>;
  readonly workers: WorkerStore;
  readonly reports: RunReports;
  readonly schedules: RecordStore<Schedule>;
  readonly dueSchedules: DueSchedules;
  readonly inboxList: InboxList;
  readonly noticeLog: NoticeLog;
  readonly auditLog: AuditLog;
  readonly policies: RecordStore<Policy>;
  readonly routingRules: RecordStore<RoutingRule>;
  readonly requestDefaults: RecordStore<RequestDefaults>;
  /** The database's time, which counts where the clocks of processes may differ. */
  now(): Promise<Date>;
  /** Waits until no other transaction has this lock, and holds it until the end of this one. */
  lock(name: string): Promise<void>;
  /**
   * Stores everything that `work` does with the given storage, or nothing. `work` may be called again. What it throws
   * is rethrown. `work` must not use any other storage. The audit entries of the changes name `author`; default: the
   * server itself.
   */
  atomically<T>(work: (storage: Storage) => Promise<T>, author?: AuditContext): Promise<T>;
}

/** The team has as many runs at work as its quota `running_runs` allows, so the run was not claimed. */
export class TeamAtQuota extends Error {
  override readonly name = "TeamAtQuota";
}

/** A unique index refused the row, because another transaction stored it first. Read again and decide again. */
export class UniqueConflict extends Error {
  override readonly name = "UniqueConflict";
  readonly what: "dedupeKey" | "thread" | "idempotencyKey" | "name";

  constructor(what: UniqueConflict["what"]) {
    super(`This ${what} is taken.`);
    this.what = what;
  }
}
