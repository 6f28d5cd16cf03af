import type { StartDurations } from "./start-durations.ts";

/** A live worker process, as it describes itself. */
export interface Worker {
  /** The name in its leases. */
  readonly id: string;
  /** The name by which runs ask for it. A worker without one takes only runs without one. */
  readonly host?: string;
  /** The id of its data directory, which stays when the worker is restarted. */
  readonly disk?: string;
  /** The largest number of runs at a time, without those that wait for a person. */
  readonly slots: number;
  readonly sandbox: { readonly name: string; readonly isolated: boolean };
  /** Undefined: it has not reported it. */
  readonly diskUse?: DiskUse;
  /** Undefined: it has not reported them. */
  readonly starts?: StartDurations;
}

/** The disk with the data directory of a worker. Sizes are in bytes. */
export interface DiskUse {
  readonly freeBytes: number;
  /** Whether there is enough space for another run. */
  readonly takesRuns: boolean;
  readonly used: {
    readonly workspaces: number;
    readonly environments: number;
    readonly mirrors: number;
    readonly agents: number;
  };
  /** How many containers and processes of killed workers in this data directory it has ended since its start. */
  readonly orphans: number;
}

/** The name of the sandbox of workers that have none and therefore run only the built-in agent. */
export const RESTRICTED = "restricted";

export function isRestricted({ sandbox }: Pick<Worker, "sandbox">): boolean {
  return sandbox.name === RESTRICTED;
}

/** The name of the only sandbox in which environments can have an image. */
const WITH_IMAGES = "docker";

export function hasImages({ sandbox }: Pick<Worker, "sandbox">): boolean {
  return sandbox.name === WITH_IMAGES;
}

export interface LiveWorker extends Worker {
  readonly startedAt: Date;
  readonly lastSeenAt: Date;
}

/** A name by which runs ask for workers. */
export interface WorkerHost {
  readonly name: string;
  readonly connectionCount: number;
  readonly connectedAt: Date;
  readonly lastSeenAt: Date;
  /** How many of them take no run, because their disk has too little space. */
  readonly crowdedCount: number;
}

/** Workers grouped by that name, in alphabetical order. Workers without a name are left out. */
export function hostsOf(workers: readonly LiveWorker[]): readonly WorkerHost[] {
  const groups = Map.groupBy(workers, ({ host }) => host ?? "");
  groups.delete("");
  return Array.from(groups, ([name, members]) => hostOf(name, members)).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  );
}

function hostOf(name: string, members: readonly LiveWorker[]): WorkerHost {
  const times = (time: "startedAt" | "lastSeenAt") => members.map((worker) => worker[time].getTime());
  return {
    name,
    connectionCount: members.length,
    crowdedCount: members.filter(({ diskUse }) => diskUse?.takesRuns === false).length,
    connectedAt: new Date(Math.min(...times("startedAt"))),
    lastSeenAt: new Date(Math.max(...times("lastSeenAt"))),
  };
}
