/** A worker process that lives, as it tells of itself. */
export interface Worker {
  /** The name that its leases carry. */
  readonly id: string;
  /** The name by which runs ask for it; a worker without one takes only runs that name none. */
  readonly host?: string;
  /** Runs that it works on at a time, at most. */
  readonly slots: number;
  readonly sandbox: { readonly name: string; readonly isolated: boolean };
}

export interface LiveWorker extends Worker {
  readonly startedAt: Date;
  readonly lastSeenAt: Date;
}

/** A name by which workers are asked for. */
export interface WorkerHost {
  readonly name: string;
  readonly connectionCount: number;
  readonly connectedAt: Date;
  readonly lastSeenAt: Date;
}

/** Workers by the names that they go by, in the order of the alphabet; those without one are left out. */
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
    connectedAt: new Date(Math.min(...times("startedAt"))),
    lastSeenAt: new Date(Math.max(...times("lastSeenAt"))),
  };
}
