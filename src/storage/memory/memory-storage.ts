import type { Storage } from "../../core/ports/storage.ts";
import { answerName, findThread, rememberAnswer, threadsOf } from "./change-rows.ts";
import { MemoryFileStore } from "./file-store.ts";
import { MemoryInboxStore } from "./inbox-store.ts";
import { MemoryInstallationStore } from "./installation-store.ts";
import { MemoryAdministratorKeys, MemoryKeyStore } from "./key-store.ts";
import { MemoryLeaseStore } from "./lease-store.ts";
import {
  MemoryDatabase,
  type MemoryStatements,
  type MemoryStorageParts,
  statementsOf,
} from "./memory-database.ts";
import { MemoryOutboxStore } from "./outbox-store.ts";
import { MemoryPeopleStore } from "./people-store.ts";
import { MemoryRunStore } from "./run-store.ts";
import { MemoryTeamStore } from "./team-store.ts";

/** The twin of the real storage, for tests of what stands on it. Nothing in it outlives the process. */
export function createMemoryStorage(parts: MemoryStorageParts): Storage {
  return storageOn(new MemoryDatabase(parts));
}

function storageOn(database: MemoryStatements): Storage {
  return {
    runs: new MemoryRunStore(database),
    leases: new MemoryLeaseStore(database),
    inbox: new MemoryInboxStore(database),
    outbox: new MemoryOutboxStore(database),
    teams: new MemoryTeamStore(database),
    people: new MemoryPeopleStore(database),
    keys: new MemoryKeyStore(database),
    administrators: new MemoryAdministratorKeys(database),
    installations: new MemoryInstallationStore(database),
    files: new MemoryFileStore(database),
    threads: {
      find: (address) => database.read((tables) => findThread(tables, address)),
      listOf: (runId) => database.read((tables) => threadsOf(tables, runId)),
    },
    answers: {
      find: (principalId, key) =>
        database.read(({ answers }) => answers.get(answerName({ principalId, key }))),
      remember: (answer) => database.transaction((tx) => rememberAnswer(tx, answer)),
    },
    atomically: (work) => database.transaction((tx) => work(storageOn(statementsOf(tx)))),
  };
}
