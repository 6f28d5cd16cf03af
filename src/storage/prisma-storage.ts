import type { AnswerStore, Storage } from "../core/ports/storage.ts";
import type { Database } from "./database.ts";
import { PrismaInboxStore } from "./inbox-store.ts";
import { PrismaLeaseStore } from "./lease-store.ts";
import { PrismaOutboxStore } from "./outbox-store.ts";
import { PrismaPeopleStore } from "./people-store.ts";
import { PrismaRunStore } from "./run-store.ts";
import type { StoreParts } from "./store-parts.ts";
import { PrismaThreadStore } from "./thread-store.ts";

export function createPrismaStorage(parts: StoreParts): Storage {
  return {
    runs: new PrismaRunStore(parts),
    leases: new PrismaLeaseStore(parts.database),
    threads: new PrismaThreadStore(parts.database),
    inbox: new PrismaInboxStore(parts),
    outbox: new PrismaOutboxStore(parts),
    people: new PrismaPeopleStore(parts),
    answers: answerStore(parts.database),
  };
}

function answerStore(database: Database): AnswerStore {
  return {
    async find(principalId, key) {
      const where = { principalId_key: { principalId, key } };
      const row = await database.query((client) => client.rememberedAnswer.findUnique({ where }));
      return row === null ? undefined : { principalId, key, requestHash: row.requestHash, body: row.body };
    },
  };
}
