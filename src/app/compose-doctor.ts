import type { RunningAdapter } from "../adapters/registry.ts";
import { findPagesProblem } from "../api/pages/built-app.ts";
import type { Config } from "../config/config.ts";
import type { SecretBox } from "../core/basics/crypto.ts";
import type { Log } from "../core/basics/log.ts";
import type { AdapterFacts } from "../core/ports/adapter-facts.ts";
import type { ObjectStore } from "../core/ports/object-store.ts";
import type { SignInProvider } from "../core/ports/sign-in-provider.ts";
import type { Storage } from "../core/ports/stores/storage.ts";
import { agentVersionsCheck } from "../core/upkeep/agent-versions-check.ts";
import { botsCheck } from "../core/upkeep/bots-check.ts";
import {
  adaptersCheck,
  agentsCheck,
  DEAD_DAYS,
  deadNoticesCheck,
  pagesCheck,
  publicUrlCheck,
  queueCheck,
  sandboxCheck,
  secretKeyCheck,
  waitingNoticesCheck,
  workerDisksCheck,
  workersCheck,
} from "../core/upkeep/checks.ts";
import { Doctor } from "../core/upkeep/doctor.ts";
import { environmentImagesCheck } from "../core/upkeep/image-check.ts";
import { objectStoreCheck } from "../core/upkeep/object-store-check.ts";
import { administratorsCheck, suspendedPeopleCheck } from "../core/upkeep/people-checks.ts";
import { type StoredBytesMeter, storedBytesCheck } from "../core/upkeep/stored-bytes.ts";
import type { Database } from "../storage/database.ts";
import { databaseChecks } from "../storage/database-checks.ts";
import { findOtherOwner } from "../storage/object-blob-store.ts";
import type { PgBossQueue } from "../storage/queue/pg-boss-queue.ts";
import { PrismaSealedValueStore } from "../storage/sealed-value-store.ts";
import { diskCheck } from "../workspace/disk.ts";
import type { AgentDeps } from "./compose-agents.ts";
import { systemClock } from "./system.ts";

/** What the checks inspect. */
export interface DoctorDeps {
  readonly config: Pick<
    Config,
    "adapters" | "dataDir" | "databaseUrl" | "oldSecretKeys" | "sandbox" | "secretKey"
  >;
  readonly publicUrl: () => string;
  readonly adapters: ReadonlyMap<string, Pick<RunningAdapter, "checks" | "socketMode">>;
  readonly agents: Pick<AgentDeps, "newer" | "view">;
  readonly database: Database;
  readonly objects: ObjectStore | undefined;
  readonly queue: PgBossQueue;
  readonly secrets: Pick<SecretBox, "prefix">;
  readonly signInProviders: readonly Pick<SignInProvider, "check">[];
  readonly storage: Storage;
  readonly storedBytes: StoredBytesMeter;
}

/** Collects the checks of all folders. */
export function composeDoctor(bootstrap: DoctorDeps, log: Log): Doctor {
  const { adapters, agents, config, database, objects, publicUrl, queue, secrets, storage, storedBytes } =
    bootstrap;
  const ofSignIns = bootstrap.signInProviders.flatMap(({ check = [] }) => check);
  const names = [...adapters.keys()];
  const countOtherKeys =
    config.oldSecretKeys.length === 0
      ? undefined
      : () => new PrismaSealedValueStore(database).count(secrets.prefix);
  const checks = [
    ...databaseChecks(database, systemClock, { isEmbedded: config.databaseUrl === undefined }),
    queueCheck(() => queue.longestWaitSeconds()),
    workersCheck(storage),
    workerDisksCheck(storage),
    sandboxCheck(storage),
    environmentImagesCheck(storage, config.sandbox.docker.images.registries),
    agentsCheck(agents.view),
    agentVersionsCheck(() => agents.newer.list()),
    adaptersCheck(
      names,
      storage,
      config.adapters.flatMap(({ problems }) => problems),
    ),
    ...Array.from(adapters.values(), ({ socketMode }) => socketMode?.check ?? []).flat(),
    deadNoticesCheck(storage),
    waitingNoticesCheck(storage),
    administratorsCheck(storage),
    suspendedPeopleCheck(storage),
    ...ofSignIns,
    botsCheck(storage, () => systemClock.now()),
    publicUrlCheck(publicUrl, names),
    pagesCheck(findPagesProblem),
    secretKeyCheck(config.secretKey !== undefined, countOtherKeys),
    diskCheck(config.dataDir),
    storedBytesCheck(storedBytes),
    ...(objects === undefined
      ? []
      : [objectStoreCheck(objects, systemClock, () => findOtherOwner(database, objects))]),
    ...Array.from(adapters, ([name, { checks: ofAdapter }]) =>
      ofAdapter(factsFor(name, { publicUrl, storage })),
    ).flat(),
  ];
  return new Doctor({ checks, clock: systemClock, log });
}

function factsFor(
  name: string,
  { publicUrl, storage }: Pick<DoctorDeps, "publicUrl" | "storage">,
): AdapterFacts {
  return {
    now: () => systemClock.now(),
    publicUrl,
    lastEventAt: () => storage.inboxList.lastReceivedAt(name),
    deadNotices: async () => {
      const dead = await storage.noticeLog.listDead(DEAD_DAYS);
      return dead.filter(({ adapter }) => adapter === name);
    },
  };
}
