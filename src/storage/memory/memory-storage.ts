import type { Storage } from "../../core/ports/storage.ts";
import { answerName, findThread, threadsOf } from "./change-rows.ts";
import { MemoryInboxStore } from "./inbox-store.ts";
import { MemoryLeaseStore } from "./lease-store.ts";
import { MemoryDatabase, type MemoryStorageParts } from "./memory-database.ts";
import { MemoryOutboxStore } from "./outbox-store.ts";
import { MemoryPeopleStore } from "./people-store.ts";
import { MemoryRunStore } from "./run-store.ts";

/** The twin of the real storage, for tests of what stands on it. Nothing in it outlives the process. */
export function createMemoryStorage(parts: MemoryStorageParts): Storage {
  const database = new MemoryDatabase(parts);
  return {
    runs: new MemoryRunStore(database),
    leases: new MemoryLeaseStore(database),
    inbox: new MemoryInboxStore(database),
    outbox: new MemoryOutboxStore(database),
    people: new MemoryPeopleStore(database),
    threads: {
      find: (address) => database.read((tables) => findThread(tables, address)),
      listOf: (runId) => database.read((tables) => threadsOf(tables, runId)),
    },
    answers: {
      find: (principalId, key) =>
        database.read(({ answers }) => answers.get(answerName({ principalId, key }))),
    },
  };
}
