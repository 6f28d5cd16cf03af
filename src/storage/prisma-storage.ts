import type { AnswerStore, Storage } from "../core/ports/storage.ts";
import { PrismaAdministratorKeys } from "./administrator-keys.ts";
import { rememberAnswer } from "./change-rows.ts";
import { type Statements, statementsOf } from "./database.ts";
import { PrismaFileStore } from "./file-store.ts";
import { HeldNews } from "./held-news.ts";
import { PrismaInboxStore } from "./inbox-store.ts";
import { PrismaInstallationStore } from "./installation-store.ts";
import { PrismaKeyStore } from "./key-store.ts";
import { PrismaLeaseStore } from "./lease-store.ts";
import { PrismaOutboxStore } from "./outbox-store.ts";
import { PrismaPeopleStore } from "./people-store.ts";
import { PrismaRunStore } from "./run-store.ts";
import type { StoreParts } from "./store-parts.ts";
import { PrismaTeamStore } from "./team-store.ts";
import { PrismaThreadStore } from "./thread-store.ts";

export function createPrismaStorage(parts: StoreParts): Storage {
  return {
    runs: new PrismaRunStore(parts),
    leases: new PrismaLeaseStore(parts.database),
    threads: new PrismaThreadStore(parts.database),
    inbox: new PrismaInboxStore(parts),
    outbox: new PrismaOutboxStore(parts),
    teams: new PrismaTeamStore(parts.database),
    people: new PrismaPeopleStore(parts),
    keys: new PrismaKeyStore(parts),
    administrators: new PrismaAdministratorKeys(parts),
    installations: new PrismaInstallationStore(parts),
    answers: answerStore(parts.database),
    files: new PrismaFileStore(parts.database),
    atomically: (work) => atomically(parts, work),
  };
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

function answerStore(database: Statements): AnswerStore {
  return {
    async find(principalId, key) {
      const where = { principalId_key: { principalId, key } };
      const row = await database.query((client) => client.rememberedAnswer.findUnique({ where }));
      if (row === null) return undefined;
      const { body, requestHash, status } = row;
      return { principalId, key, requestHash, status, body };
    },
    remember: (answer) => database.transaction((tx) => rememberAnswer(tx, answer)),
  };
}
