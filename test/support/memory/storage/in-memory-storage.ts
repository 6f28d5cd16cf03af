import type { NamedAgent } from "../../../../src/core/model/defaults/named-agent.ts";
import type { RequestDefaults } from "../../../../src/core/model/defaults/request-defaults.ts";
import type { McpServer } from "../../../../src/core/model/secrets/mcp-server.ts";
import type { Secret } from "../../../../src/core/model/secrets/secret.ts";
import type { Environment } from "../../../../src/core/model/workspaces/environment.ts";
import type { Storage } from "../../../../src/core/ports/stores/storage.ts";
import { answerName, findThread, storeIdempotentResponse, threadsOf } from "./change-rows.ts";
import { InMemoryClaimStore } from "./claim-store.ts";
import { InMemoryDeviceCodeStore } from "./device-code-store.ts";
import { InMemoryDraftCommentStore } from "./draft-comment-store.ts";
import { InMemoryEventLog } from "./event-log.ts";
import { InMemoryEventRecoveryStore } from "./event-recovery-store.ts";
import { InMemoryFileStore } from "./file-store.ts";
import { InMemoryFollowUpStore } from "./follow-up-store.ts";
import { InMemoryIdentityStore } from "./identity-store.ts";
import {
  InMemoryDatabase,
  type InMemoryStatements,
  type InMemoryStorageDeps,
  statementsOf,
} from "./in-memory-database.ts";
import { findInboxEvent, listInbox } from "./inbox-list.ts";
import { InMemoryInboxStore } from "./inbox-store.ts";
import { InMemoryInstallationStore } from "./installation-store.ts";
import { InMemoryAdministratorKeys, InMemoryKeyStore } from "./key-store.ts";
import { InMemoryLeaseStore } from "./lease-store.ts";
import { createInMemoryNoticeLog } from "./notice-log.ts";
import { InMemoryOutboxStore } from "./outbox-store.ts";
import { InMemoryPeopleStore } from "./people-store.ts";
import { InMemoryPrincipalJoins } from "./principal-joins.ts";
import { InMemoryQuotaStore } from "./quota-store.ts";
import { InMemoryRecordStore } from "./record-store.ts";
import { InMemoryRunReports } from "./run-reports.ts";
import { InMemoryRunStore } from "./run-store.ts";
import { createInMemorySettings } from "./settings.ts";
import { InMemoryShareLinkStore } from "./share-link-store.ts";
import { InMemorySignInLinkStore } from "./sign-in-link-store.ts";
import { InMemorySignInStore } from "./sign-in-store.ts";
import { createInMemorySkillHistory } from "./skill-history.ts";
import { InMemoryTeamStore } from "./team-store.ts";
import { createInMemoryWebhookStorage } from "./webhooks/webhook-storage.ts";
import { InMemoryWorkerStore } from "./worker-store.ts";

/** An in-memory fake of the storage, for tests of its users. */
export function createInMemoryStorage(deps: InMemoryStorageDeps): Storage {
  return storageOn(new InMemoryDatabase(deps));
}

function storageOn(database: InMemoryStatements): Storage {
  return {
    runs: new InMemoryRunStore(database),
    followUps: new InMemoryFollowUpStore(database),
    eventLog: new InMemoryEventLog(database),
    leases: new InMemoryLeaseStore(database),
    claims: new InMemoryClaimStore(database),
    inbox: new InMemoryInboxStore(database),
    eventRecoveries: new InMemoryEventRecoveryStore(database),
    outbox: new InMemoryOutboxStore(database),
    teams: new InMemoryTeamStore(database),
    quotas: new InMemoryQuotaStore(database),
    people: new InMemoryPeopleStore(database),
    identities: new InMemoryIdentityStore(database),
    principalJoins: new InMemoryPrincipalJoins(database),
    keys: new InMemoryKeyStore(database),
    namedAgents: new InMemoryRecordStore<NamedAgent>(database, "named agent"),
    administrators: new InMemoryAdministratorKeys(database),
    installations: new InMemoryInstallationStore(database),
    draftComments: new InMemoryDraftCommentStore(database),
    shareLinks: new InMemoryShareLinkStore(database),
    signIns: new InMemorySignInStore(database),
    signInLinks: new InMemorySignInLinkStore(database),
    deviceCodes: new InMemoryDeviceCodeStore(database),
    files: new InMemoryFileStore(database),
    skillHistory: createInMemorySkillHistory(database),
    webhooks: createInMemoryWebhookStorage(database),
    environments: new InMemoryRecordStore<Environment>(database, "environment"),
    secrets: new InMemoryRecordStore<Secret>(database, "secret", ({ ownerId, name }) => `${ownerId} ${name}`),
    mcpServers: new InMemoryRecordStore<McpServer>(database, "MCP server", ({ name }) => name),
    requestDefaults: new InMemoryRecordStore<RequestDefaults>(database, "request defaults"),
    workers: new InMemoryWorkerStore(database),
    reports: new InMemoryRunReports(database),
    ...createInMemorySettings(database),
    inboxList: {
      list: (query) => database.read((tables) => listInbox(tables, query)),
      lastReceivedAt: (name) =>
        database.read(
          ({ inbox }) =>
            [...inbox.values()].findLast(({ event: { adapter } }) => adapter === name)?.event.receivedAt,
        ),
      find: (viewer, id) => database.read((tables) => findInboxEvent(tables, viewer, id)),
    },
    noticeLog: createInMemoryNoticeLog(database),
    // Triggers of the real database write the entries.
    auditLog: { list: async () => ({ entries: [], hasMore: false }) },
    threads: {
      find: (address) => database.read((tables) => findThread(tables, address)),
      findById: (id) => database.read(({ threads }) => threads.get(id)),
      listOf: (runId) => database.read((tables) => threadsOf(tables, runId)),
      addParticipants: (id, subjects) =>
        database.transaction(({ tables: { threads } }) => {
          const thread = threads.get(id);
          if (thread !== undefined) {
            const participants = [...new Set([...thread.participants, ...subjects])].sort();
            threads.set(id, { ...thread, participants });
          }
        }),
      setNeedsMention: (id, needsMention) =>
        database.transaction(({ tables: { threads } }) => {
          const thread = threads.get(id);
          if (thread !== undefined) {
            threads.set(id, { ...thread, needsMention });
          }
        }),
      setVerbosity: (id, verbosity) =>
        database.transaction(({ tables: { threads } }) => {
          const thread = threads.get(id);
          if (thread !== undefined) {
            threads.set(id, { ...thread, verbosity });
          }
        }),
    },
    idempotentResponses: {
      find: (principalId, key) =>
        database.read(({ answers }) => {
          const { runId: _runId, ...answer } = answers.get(answerName({ principalId, key })) ?? {};
          return "status" in answer ? answer : undefined;
        }),
      remember: (answer) => database.transaction((tx) => storeIdempotentResponse(tx, answer)),
      prune: async () => 0,
    },
    // One transaction runs at a time.
    lock: async () => undefined,
    now: () => database.read((_tables, now) => new Date(now)),
    atomically: (work) => database.transaction((tx) => work(storageOn(statementsOf(tx)))),
  };
}
