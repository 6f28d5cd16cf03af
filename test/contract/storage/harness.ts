import { randomUUID } from "node:crypto";
import type { TeamId } from "../../../src/core/ids.ts";
import type { Principal } from "../../../src/core/people/principal.ts";
import { FIRST_TEAM } from "../../../src/core/people/team.ts";
import type { BlobStore } from "../../../src/core/ports/blob-store.ts";
import type { Job } from "../../../src/core/ports/queue.ts";
import type { Run, RunOrigin } from "../../../src/core/runs/run.ts";
import type { RunChange } from "../../../src/core/runs/run-change.ts";
import type { Storage } from "../../../src/core/storage.ts";
import type { ThreadBinding } from "../../../src/core/threads/thread.ts";
import type { ManualClock } from "../../support/manual-clock.ts";
import { aChange, anOrigin, aRun, aThread } from "../../support/run-builders.ts";

/** A storage and what a test needs around it. One storage serves many tests: each makes its own rows. */
export interface StorageHarness {
  readonly storage: Storage;
  readonly blobs: BlobStore;
  /** What `updatedAt` is taken from. */
  readonly clock: ManualClock;
  /** What was sent with the changes. */
  readonly jobs: Job[];
  /** Topics of what was told. */
  readonly pubsub: string[];
  /** The next change cannot store its jobs. */
  failJobs(): void;
  /** All that is stored becomes older by the clock that leases and deliveries are judged by. */
  passTime(ms: number): Promise<void>;
  close(): Promise<void>;
}

export type OpenStorage = () => Promise<StorageHarness>;

export function aPerson({ storage }: StorageHarness): Promise<Principal> {
  return storage.people.ensure(FIRST_TEAM, `memory:${randomUUID()}`, "Ada");
}

export async function aTeam({ storage }: StorageHarness): Promise<TeamId> {
  const id = randomUUID() as TeamId;
  await storage.teams.put({ id, name: id, createdAt: new Date("2026-03-01T12:00:00.000Z") });
  return id;
}

/** A stored run, of a new person unless told. */
export async function aStoredRun(
  harness: StorageHarness,
  origin: Partial<RunOrigin> = {},
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
  await harness.storage.runs.change(run.id, (subject) => aChange(subject.run, { binding }));
  return thread;
}
