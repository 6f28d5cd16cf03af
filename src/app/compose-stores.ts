import { createKeyHasher, type KeyHasher } from "../api/auth/api-keys.ts";
import type { BlobConfig } from "../config/blobs.ts";
import type { Config } from "../config/config.ts";
import { secretsIn } from "../config/secret-values.ts";
import type { SecretBox } from "../core/basics/crypto.ts";
import type { Log } from "../core/basics/log.ts";
import type { BlobStore } from "../core/ports/blob-store.ts";
import type { ObjectStore } from "../core/ports/object-store.ts";
import type { AdapterSettings } from "../core/ports/stores/adapter-settings.ts";
import type { AppInstallations } from "../core/ports/stores/app-installations.ts";
import type { Storage } from "../core/ports/stores/storage.ts";
import type { KnownSecrets } from "../secrets/redaction.ts";
import { createSecretBox } from "../secrets/secret-box.ts";
import { deriveKey } from "../secrets/secret-files.ts";
import { PrismaAdapterSettings } from "../storage/adapter-settings.ts";
import { PrismaAppInstallations } from "../storage/app-installations.ts";
import { createPrismaBlobStore } from "../storage/blob-store.ts";
import { Database } from "../storage/database.ts";
import { createObjectBlobStore } from "../storage/object-blob-store.ts";
import { PostgresPubSub } from "../storage/postgres-pubsub.ts";
import { createPrismaStorage } from "../storage/prisma-storage.ts";
import { PgBossQueue } from "../storage/queue/pg-boss-queue.ts";
import { JOB_INSERT } from "../storage/queue/queue-settings.ts";
import { diskIdOf } from "../workspace/disk.ts";
import { type Logger, plainLog } from "./logger.ts";
import { systemClock } from "./system.ts";

/** For the queue's own supervision and its jobs. */
const QUEUE_CONNECTIONS = 4;
const BLOB_LINK = { maxConnections: 2, statementMs: 60_000 } as const;
/** A report of a year over millions of runs takes seconds. */
const REPORT_LINK = { maxConnections: 2, statementMs: 30_000 } as const;
const PUBSUB_CONNECTIONS = 1;
/** The connections that a process opens in addition to `ERRAND_DATABASE_CONNECTIONS`. */
export const CONNECTIONS_BESIDES =
  QUEUE_CONNECTIONS + BLOB_LINK.maxConnections + REPORT_LINK.maxConnections + PUBSUB_CONNECTIONS;

interface Bootstrap {
  readonly config: Config;
  readonly databaseUrl: string;
  readonly secretKey: string;
  readonly knownSecrets: KnownSecrets;
  readonly logger: Logger;
}

/** What keeps everything, and the keys to it. */
export interface Stores {
  readonly database: Database;
  /** Separate connections for blobs, which are large, so that short statements do not wait for them. */
  readonly blobDatabase: Database;
  /** Separate connections for reports, which read many rows, so that short statements do not wait for them. */
  readonly reportDatabase: Database;
  readonly blobs: BlobStore;
  /** Where the bytes of new blobs are, if not in the database. */
  readonly objects: ObjectStore | undefined;
  readonly pubsub: PostgresPubSub;
  readonly queue: PgBossQueue;
  /** The id of this worker's data directory. */
  readonly disk?: string;
  readonly storage: Storage;
  readonly adapterSettings: AdapterSettings;
  readonly appInstallations: AppInstallations;
  readonly hashKey: KeyHasher;
  readonly formerHashers: readonly KeyHasher[];
  readonly secrets: SecretBox;
}

export async function composeStores(bootstrap: Bootstrap): Promise<Stores> {
  const { config, databaseUrl: url, logger } = bootstrap;
  const { databaseConnections: maxConnections, poolerUrl } = config;
  const log = plainLog(logger);
  const clock = systemClock;
  const isPooled = poolerUrl !== undefined;
  const database = new Database({ url: poolerUrl ?? url, isPooled, maxConnections, log });
  const blobDatabase = new Database({ url, ...BLOB_LINK, log });
  const reportDatabase = new Database({ url, ...REPORT_LINK, log });
  const pubsub = new PostgresPubSub({ url, log });
  const disk = await diskOf(config);
  const objects = config.blobs && (await openObjects(config.blobs, log));
  const rows = createPrismaBlobStore(blobDatabase, clock);
  const link = { url, maxConnections: QUEUE_CONNECTIONS, pubsub, log };
  const [hashKey, ...formerHashers] = fromSecretKeys(bootstrap, "api-keys", createKeyHasher);
  const secrets = createSecretBox(fromSecretKeys(bootstrap, "sealing", (key) => key));
  return {
    adapterSettings: new PrismaAdapterSettings({
      database,
      pubsub,
      clock,
      secrets,
      learn: (values) => bootstrap.knownSecrets.learn(secretsIn(values)),
    }),
    appInstallations: new PrismaAppInstallations({ database, pubsub, clock, jobInsert: JOB_INSERT }),
    database,
    blobDatabase,
    blobs: objects ? createObjectBlobStore({ database: blobDatabase, objects, rows, clock }) : rows,
    objects,
    pubsub,
    queue: new PgBossQueue(link),
    ...disk,
    reportDatabase,
    storage: createPrismaStorage({ database, reportDatabase, pubsub, clock, jobInsert: JOB_INSERT }),
    secrets,
    hashKey,
    formerHashers,
  };
}

/** The SDK takes 30 MiB and a quarter of a second, which only those pay who use it. */
export async function openObjects(config: BlobConfig, log: Log): Promise<ObjectStore> {
  const { openS3Objects } = await import("../object-storage/s3-objects.ts");
  return openS3Objects({ ...config, log });
}

async function diskOf({ dataDir, role }: Config): Promise<{ readonly disk?: string }> {
  return role === "api" ? {} : { disk: await diskIdOf(dataDir) };
}

/** One value for each secret key, the current key first. */
export function fromSecretKeys<T>(
  { config: { oldSecretKeys }, secretKey }: Pick<Bootstrap, "config" | "secretKey">,
  purpose: string,
  make: (key: string) => T,
): readonly [T, ...T[]] {
  const makeFrom = (key: string): T => make(deriveKey(key, purpose));
  return [makeFrom(secretKey), ...oldSecretKeys.map(makeFrom)];
}
