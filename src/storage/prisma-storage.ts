import type { AnswerStore, Storage } from "../core/ports/storage.ts";
import type { RememberedAnswer } from "../core/runs/remembered-answer.ts";
import { PrismaAdministratorKeys } from "./administrator-keys.ts";
import { rememberAnswer } from "./change-rows.ts";
import { type Statements, statementsOf } from "./database.ts";
import { createEnvironmentStore } from "./environment-store.ts";
import { PrismaEventLog } from "./event-log.ts";
import { PrismaFileStore } from "./file-store.ts";
import { HeldNews } from "./held-news.ts";
import { PrismaIdentityStore } from "./identity-store.ts";
import { PrismaInboxLog } from "./inbox-log.ts";
import { PrismaInboxStore } from "./inbox-store.ts";
import { PrismaInstallationStore } from "./installation-store.ts";
import { PrismaKeyStore } from "./key-store.ts";
import { PrismaLeaseStore } from "./lease-store.ts";
import { PrismaOutboxStore } from "./outbox-store.ts";
import { PrismaPeopleStore } from "./people-store.ts";
import { PrismaRunReports } from "./run-reports.ts";
import { PrismaRunStore } from "./run-store.ts";
import { createSecretStore } from "./secret-store.ts";
import { createSettings } from "./settings.ts";
import { PrismaShareLinkStore } from "./share-link-store.ts";
import { createSkillHistory } from "./skill-history.ts";
import type { StoreParts } from "./store-parts.ts";
import { PrismaTeamStore } from "./team-store.ts";
import { PrismaThreadStore } from "./thread-store.ts";
import { createWebhookStorage } from "./webhooks/webhook-storage.ts";
import { PrismaWorkerStore } from "./worker-store.ts";

export function createPrismaStorage(parts: StoreParts): Storage {
  return {
    runs: new PrismaRunStore(parts),
    log: new PrismaEventLog(parts.database),
    leases: new PrismaLeaseStore(parts.database),
    threads: new PrismaThreadStore(parts.database),
    inbox: new PrismaInboxStore(parts),
    outbox: new PrismaOutboxStore(parts),
    teams: new PrismaTeamStore(parts.database),
    people: new PrismaPeopleStore(parts),
    identities: new PrismaIdentityStore(parts.database),
    keys: new PrismaKeyStore(parts),
    administrators: new PrismaAdministratorKeys(parts),
    installations: new PrismaInstallationStore(parts),
    shareLinks: new PrismaShareLinkStore(parts),
    answers: answerStore(parts.database),
    files: new PrismaFileStore(parts.database),
    skillHistory: createSkillHistory(parts.database),
    webhooks: createWebhookStorage(parts),
    environments: createEnvironmentStore(parts.database),
    secrets: createSecretStore(parts.database),
    workers: new PrismaWorkerStore(parts.database),
    reports: new PrismaRunReports(parts.database),
    ...createSettings(parts),
    inboxLog: new PrismaInboxLog(parts.database),
    now: () => now(parts.database),
    atomically: (work) => atomically(parts, work),
  };
}

async function now(database: Statements): Promise<Date> {
  const [clock] = await database.rows<{ now: Date }>({ text: "SELECT clock_timestamp() AS now", values: [] });
  if (clock === undefined) throw new Error("The database told no time.");
  return clock.now;
}

/** News of what is not committed yet would send others looking too early, so it is held until then. */
async function atomically<T>(parts: StoreParts, work: (storage: Storage) => Promise<T>): Promise<T> {
  const { news, value } = await parts.database.transaction(async (tx) => {
    const news = new HeldNews(parts.news);
    const value = await work(createPrismaStorage({ ...parts, news, database: statementsOf(tx) }));
    return { news, value };
  });
  news.release();
  return value;
}

const FIND_ANSWER = `
  SELECT request_hash AS "requestHash", status, body FROM remembered_answers
  WHERE principal_id = $1::uuid AND key = $2`;

/** In parts, so that no statement runs into its time limit. */
const PRUNE_ANSWERS = `
  DELETE FROM remembered_answers WHERE (principal_id, key) IN (
    SELECT principal_id, key FROM remembered_answers
    WHERE created_at < now() - interval '24 hours' ORDER BY created_at LIMIT 5000)`;

function answerStore(database: Statements): AnswerStore {
  return {
    async find(principalId, key) {
      const [row] = await database.rows<Pick<RememberedAnswer, "requestHash" | "status" | "body">>({
        text: FIND_ANSWER,
        values: [principalId, key],
      });
      return row && { principalId, key, ...row };
    },
    remember: (answer) => database.transaction((tx) => rememberAnswer(tx, answer)),
    prune: () => database.query((client) => client.$executeRawUnsafe(PRUNE_ANSWERS)),
  };
}
