import { randomUUID } from "node:crypto";
import type { TeamId } from "../../../src/core/basics/ids.ts";
import type { Principal } from "../../../src/core/model/people/principal.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import type { Run, RunDefinition } from "../../../src/core/model/runs/run.ts";
import type { ThreadBinding } from "../../../src/core/model/threads/thread.ts";
import type { BlobStore } from "../../../src/core/ports/blob-store.ts";
import type { Job } from "../../../src/core/ports/queue.ts";
import type { RunChange } from "../../../src/core/ports/stores/run-change.ts";
import type { Storage } from "../../../src/core/ports/stores/storage.ts";
import type { ManualClock } from "../../support/manual-clock.ts";
import { aChange, anOrigin, aRun, aThread } from "../../support/run-builders.ts";

/** A storage and what a test needs around it. Many tests share one storage, so each creates its own rows. */
export interface StorageHarness {
  readonly storage: Storage;
  readonly blobs: BlobStore;
  /** The source of `updatedAt`. */
  readonly clock: ManualClock;
  /** The jobs that were sent with the changes. */
  readonly jobs: Job[];
  /** The channels that were published to. */
  readonly pubsub: string[];
  /** Makes the next change fail to store its jobs. */
  failJobs(): void;
  /** Makes all stored rows older by the clock that judges leases and deliveries. */
  passTime(ms: number): Promise<void>;
  close(): Promise<void>;
}

export type OpenStorage = () => Promise<StorageHarness>;

export function aPerson({ storage }: StorageHarness): Promise<Principal> {
  return storage.people.ensure(FIRST_TEAM, `memory:${randomUUID()}`, "Ada");
}

export async function aTeam({ storage }: StorageHarness): Promise<TeamId> {
  const id = randomUUID() as TeamId;
  await storage.teams.put({ id, name: id, createdAt: new Date("2026-03-01T12:00:00.000Z"), sharing: "off" });
  return id;
}

/** A stored run. Its creator is a new person unless `origin` names one. */
export async function aStoredRun(
  harness: StorageHarness,
  origin: Partial<RunDefinition> = {},
  change: Partial<RunChange> = {},
): Promise<Run> {
  const creatorId = origin.creatorId ?? (await aPerson(harness)).id;
  const made = anOrigin({ createdAt: harness.clock.now(), ...origin, creatorId });
  const created = { turn: 0, body: { kind: "run.created", state: "QUEUED" } } as const;
  return harness.storage.runs.create(made, aChange(aRun(made), { events: [created], ...change }));
}

export async function aBoundThread(harness: StorageHarness, run: Run): Promise<ThreadBinding["thread"]> {
  const thread = aThread();
  const binding = { thread, expected: undefined };
  await harness.storage.runs.change(run.id, (aggregate) => aChange(aggregate.run, { binding }));
  return thread;
}
