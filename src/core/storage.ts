import type { FileStore } from "./artifacts/file-store.ts";
import type { ClaimStore } from "./attempts/claim-store.ts";
import type { LeaseStore } from "./attempts/lease-store.ts";
import type { AuditContext, AuditLog } from "./audit/audit-log.ts";
import type { Environment } from "./environments/environment.ts";
import type { IdempotencyStore } from "./idempotency/idempotency-store.ts";
import type { EventRecoveryStore } from "./inbox/event-recovery-store.ts";
import type { InboxList } from "./inbox/inbox-list.ts";
import type { InboxStore } from "./inbox/inbox-store.ts";
import type { McpServer } from "./mcp-servers/mcp-server.ts";
import type { NoticeLog } from "./outbox/notice-log.ts";
import type { OutboxStore } from "./outbox/outbox-store.ts";
import type { DeviceCodeStore } from "./people/device-code.ts";
import type { NamedAgent } from "./people/named-agent.ts";
import type {
  AdministratorKeys,
  IdentityStore,
  InstallationStore,
  KeyStore,
  PeopleStore,
  TeamStore,
} from "./people/people-stores.ts";
import type { ShareLinkStore } from "./people/share-link-store.ts";
import type { SignInLinkStore } from "./people/sign-in-link.ts";
import type { SignInStore } from "./people/sign-in-store.ts";
import type { Policy } from "./policies/policy.ts";
import type { QuotaStore } from "./quotas/quota-store.ts";
import type { RequestDefaults } from "./routing/request-defaults.ts";
import type { RoutingRule } from "./routing/routing-rule.ts";
import type { EventLog } from "./runs/event-log.ts";
import type { FollowUpStore } from "./runs/follow-up-store.ts";
import type { RunStore } from "./runs/run-store.ts";
import type { DueSchedules } from "./schedules/due-schedules.ts";
import type { Schedule } from "./schedules/schedule.ts";
import type { Secret } from "./secrets/secret.ts";
import type { SkillHistory } from "./skills/skill-history.ts";
import type { RecordStore } from "./team-records/record-store.ts";
import type { ThreadStore } from "./threads/thread-store.ts";
import type { RunReports } from "./usage/run-reports.ts";
import type { WebhookStorage } from "./webhooks/webhook-stores.ts";
import type { WorkerStore } from "./workers/worker-store.ts";

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
  readonly keys: KeyStore;
  readonly namedAgents: RecordStore<NamedAgent>;
  readonly administrators: AdministratorKeys;
  readonly installations: InstallationStore;
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
