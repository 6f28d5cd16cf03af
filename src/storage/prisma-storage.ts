import type { AuditContext } from "../core/model/people/audit.ts";
import type { PubSub, Unsubscribe } from "../core/ports/pubsub.ts";
import type { IdempotencyStore, IdempotentResponse } from "../core/ports/stores/idempotency-store.ts";
import type { Storage } from "../core/ports/stores/storage.ts";
import { PrismaAdministratorKeys } from "./administrator-keys.ts";
import { nameAuthor, PrismaAuditLog } from "./audit-log.ts";
import { storeIdempotentResponse } from "./change-rows.ts";
import { PrismaClaimStore } from "./claim-store.ts";
import { type Statements, statementsOf } from "./database.ts";
import { PrismaDeviceCodeStore } from "./device-code-store.ts";
import { PrismaDraftCommentStore } from "./draft-comment-store.ts";
import { PrismaDueSchedules } from "./due-schedules.ts";
import { PrismaEventLog } from "./event-log.ts";
import { PrismaEventRecoveryStore } from "./event-recovery-store.ts";
import { PrismaFileStore } from "./file-store.ts";
import { PrismaFollowUpStore } from "./follow-up-store.ts";
import { PrismaInboxList } from "./inbox-list.ts";
import { PrismaInboxStore } from "./inbox-store.ts";
import { PrismaInstallationStore } from "./installation-store.ts";
import { PrismaKeyStore } from "./key-store.ts";
import { PrismaLeaseStore } from "./lease-store.ts";
import { PrismaNoticeLog } from "./notice-log.ts";
import { PrismaOutboxStore } from "./outbox-store.ts";
import { PrismaIdentityStore, PrismaPeopleStore } from "./people-store.ts";
import { PrismaPrincipalJoins } from "./principal-joins.ts";
import { PrismaQuotaStore } from "./quota-store.ts";
import { createRecordStores } from "./record-stores.ts";
import { PrismaRunReports } from "./run-reports.ts";
import { PrismaRunStore } from "./run-store.ts";
import { PrismaShareLinkStore } from "./share-link-store.ts";
import { PrismaSignInLinkStore, PrismaSignInStore } from "./sign-in-store.ts";
import { createSkillHistory } from "./skill-history.ts";
import type { StoreDeps } from "./store-deps.ts";
import { PrismaTeamStore } from "./team-store.ts";
import { PrismaThreadStore } from "./thread-store.ts";
import { createWebhookStorage } from "./webhooks/webhook-storage.ts";
import { PrismaWorkerStore } from "./worker-store.ts";

export function createPrismaStorage(deps: StoreDeps): Storage {
  return {
    ...createRecordStores(deps),
    runs: new PrismaRunStore(deps),
    followUps: new PrismaFollowUpStore(deps.database),
    eventLog: new PrismaEventLog(deps.database),
    leases: new PrismaLeaseStore(deps.database),
    claims: new PrismaClaimStore(deps.database),
    threads: new PrismaThreadStore(deps.database),
    inbox: new PrismaInboxStore(deps),
    eventRecoveries: new PrismaEventRecoveryStore(deps.database),
    outbox: new PrismaOutboxStore(deps),
    teams: new PrismaTeamStore(deps.database),
    quotas: new PrismaQuotaStore(deps.database),
    people: new PrismaPeopleStore(deps),
    identities: new PrismaIdentityStore(deps.database),
    principalJoins: new PrismaPrincipalJoins(deps),
    keys: new PrismaKeyStore(deps),
    administrators: new PrismaAdministratorKeys(deps),
    installations: new PrismaInstallationStore(deps),
    draftComments: new PrismaDraftCommentStore(deps.database),
    shareLinks: new PrismaShareLinkStore(deps),
    signIns: new PrismaSignInStore(deps),
    signInLinks: new PrismaSignInLinkStore(deps),
    deviceCodes: new PrismaDeviceCodeStore(deps),
    idempotentResponses: answerStore(deps.database),
    files: new PrismaFileStore(deps.database),
    skillHistory: createSkillHistory(deps.database),
    webhooks: createWebhookStorage(deps),
    workers: new PrismaWorkerStore(deps.database),
    reports: new PrismaRunReports(deps.database, deps.reportDatabase),
    dueSchedules: new PrismaDueSchedules(deps),
    inboxList: new PrismaInboxList(deps.database),
    noticeLog: new PrismaNoticeLog(deps),
    auditLog: new PrismaAuditLog(deps.database),
    now: () => now(deps.database),
    lock: async (name) => {
      await deps.database.rows({ text: LOCK, values: [name] });
    },
    atomically: (work, author) => atomically(deps, work, author),
  };
}

const LOCK = "SELECT pg_advisory_xact_lock(hashtext('errand resource'), hashtext($1))::text";

async function now(database: Statements): Promise<Date> {
  const [clock] = await database.rows<{ now: Date }>({ text: "SELECT clock_timestamp() AS now", values: [] });
  if (clock === undefined) {
    throw new Error("The database returned no time.");
  }
  return clock.now;
}

/** Notifications are held until the commit, because subscribers would otherwise read too early. */
async function atomically<T>(
  deps: StoreDeps,
  work: (storage: Storage) => Promise<T>,
  author: AuditContext | undefined,
): Promise<T> {
  const { pubsub, value } = await deps.database.transaction(async (tx) => {
    const pubsub = new PendingNotifications(deps.pubsub);
    await nameAuthor(tx, author);
    const value = await work(createPrismaStorage({ ...deps, pubsub, database: statementsOf(tx) }));
    return { pubsub, value };
  });
  pubsub.release();
  return value;
}

/** Collects the notifications of a transaction until it is committed. */
class PendingNotifications implements PubSub {
  readonly #pubsub: PubSub;
  readonly #channels = new Set<string>();

  constructor(pubsub: PubSub) {
    this.#pubsub = pubsub;
  }

  publish(channels: readonly string[]): void {
    for (const channel of channels) {
      this.#channels.add(channel);
    }
  }

  subscribe(channel: string, listener: () => void): Unsubscribe {
    return this.#pubsub.subscribe(channel, listener);
  }

  release(): void {
    if (this.#channels.size > 0) {
      this.#pubsub.publish([...this.#channels]);
    }
  }
}

const FIND_ANSWER = `
  SELECT request_hash AS "requestHash", status, body FROM idempotent_responses
  WHERE principal_id = $1::uuid AND key = $2`;

/** In parts, so that no statement reaches its time limit. */
const PRUNE_ANSWERS = `
  DELETE FROM idempotent_responses WHERE (principal_id, key) IN (
    SELECT principal_id, key FROM idempotent_responses
    WHERE created_at < now() - interval '24 hours' ORDER BY created_at LIMIT 5000)`;

function answerStore(database: Statements): IdempotencyStore {
  return {
    async find(principalId, key) {
      const [row] = await database.rows<Pick<IdempotentResponse, "requestHash" | "status" | "body">>({
        text: FIND_ANSWER,
        values: [principalId, key],
      });
      return row && { principalId, key, ...row };
    },
    remember: (answer) => database.transaction((tx) => storeIdempotentResponse(tx, answer)),
    prune: () => database.query((client) => client.$executeRawUnsafe(PRUNE_ANSWERS)),
  };
}
