import type { Environment } from "../../../../src/core/environments/environment.ts";
import type { Secret } from "../../../../src/core/secrets/secret.ts";
import type { Storage } from "../../../../src/core/storage.ts";
import { answerName, findThread, storeIdempotentResponse, threadsOf } from "./change-rows.ts";
import { MemoryEventLog } from "./event-log.ts";
import { MemoryFileStore } from "./file-store.ts";
import { MemoryIdentityStore } from "./identity-store.ts";
import { listInbox } from "./inbox-log.ts";
import { MemoryInboxStore } from "./inbox-store.ts";
import { MemoryInstallationStore } from "./installation-store.ts";
import { MemoryAdministratorKeys, MemoryKeyStore } from "./key-store.ts";
import { MemoryLeaseStore } from "./lease-store.ts";
import {
  MemoryDatabase,
  type MemoryStatements,
  type MemoryStorageDeps,
  statementsOf,
} from "./memory-database.ts";
import { MemoryOutboxStore } from "./outbox-store.ts";
import { MemoryPeopleStore } from "./people-store.ts";
import { MemoryRecordStore } from "./record-store.ts";
import { MemoryRunReports } from "./run-reports.ts";
import { MemoryRunStore } from "./run-store.ts";
import { createMemorySettings } from "./settings.ts";
import { MemoryShareLinkStore } from "./share-link-store.ts";
import { createMemorySkillHistory } from "./skill-history.ts";
import { MemoryTeamStore } from "./team-store.ts";
import { createMemoryWebhookStorage } from "./webhooks/webhook-storage.ts";
import { MemoryWorkerStore } from "./worker-store.ts";

/** The twin of the real storage, for tests of what stands on it. Nothing in it outlives the process. */
export function createMemoryStorage(deps: MemoryStorageDeps): Storage {
  return storageOn(new MemoryDatabase(deps));
}

function storageOn(database: MemoryStatements): Storage {
  return {
    runs: new MemoryRunStore(database),
    log: new MemoryEventLog(database),
    leases: new MemoryLeaseStore(database),
    inbox: new MemoryInboxStore(database),
    outbox: new MemoryOutboxStore(database),
    teams: new MemoryTeamStore(database),
    people: new MemoryPeopleStore(database),
    identities: new MemoryIdentityStore(database),
    keys: new MemoryKeyStore(database),
    administrators: new MemoryAdministratorKeys(database),
    installations: new MemoryInstallationStore(database),
    shareLinks: new MemoryShareLinkStore(database),
    files: new MemoryFileStore(database),
    skillHistory: createMemorySkillHistory(database),
    webhooks: createMemoryWebhookStorage(database),
    environments: new MemoryRecordStore<Environment>(database, "environment"),
    secrets: new MemoryRecordStore<Secret>(database, "secret", ({ ownerId, name }) => `${ownerId} ${name}`),
    workers: new MemoryWorkerStore(database),
    reports: new MemoryRunReports(database),
    ...createMemorySettings(database),
    inboxLog: { list: (query) => database.read((tables) => listInbox(tables, query)) },
    threads: {
      find: (address) => database.read((tables) => findThread(tables, address)),
      findById: (id) => database.read(({ threads }) => threads.get(id)),
      listOf: (runId) => database.read((tables) => threadsOf(tables, runId)),
      setVerbosity: (id, verbosity) =>
        database.transaction(({ tables: { threads } }) => {
          const thread = threads.get(id);
          if (thread !== undefined) threads.set(id, { ...thread, verbosity });
        }),
    },
    answers: {
      find: (principalId, key) =>
        database.read(({ answers }) => answers.get(answerName({ principalId, key }))),
      remember: (answer) => database.transaction((tx) => storeIdempotentResponse(tx, answer)),
      prune: async () => 0,
    },
    now: () => database.read((_tables, now) => new Date(now)),
    atomically: (work) => database.transaction((tx) => work(storageOn(statementsOf(tx)))),
  };
}
