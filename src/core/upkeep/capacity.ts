import { type Clock, withTimeout } from "../basics/clock.ts";
import type { TeamId } from "../basics/ids.ts";
import type { ClaimStore } from "../ports/stores/claim-store.ts";
import type { HostLoad, WorkerStore } from "../ports/stores/worker-store.ts";

const KEPT_MS = 1_000;
const WAIT_MS = 250;

/**
 * Whether workers can take a run: some can, all are busy or will be with the runs that wait already, all that are not busy lack disk space, none is connected, or its
 * team has no room in its quota `running_runs`.
 */
export type Availability = "free" | "busy" | "crowded" | "absent" | "limited";
/** Undefined when it is unknown. */
export type AvailabilityOf = (run: {
  readonly teamId: TeamId;
  readonly config: { readonly worker_host?: string };
}) => Availability | undefined;

interface Loads {
  readonly hosts: readonly HostLoad[];
  readonly teamsAtQuota: ReadonlySet<TeamId>;
  readonly waiting: ReadonlyMap<string, number>;
}

/** Tells whether a run has to wait for a worker, at most a second late. */
export class Capacity {
  readonly #workers: Pick<WorkerStore, "listLoads">;
  readonly #claims: Pick<ClaimStore, "countWaiting" | "listTeamsAtQuota">;
  readonly #clock: Clock;
  #kept: { readonly loads: Promise<Loads | undefined>; readonly untilMs: number } | undefined;

  constructor({
    workers,
    claims,
    clock,
  }: {
    readonly workers: Pick<WorkerStore, "listLoads">;
    readonly claims: Pick<ClaimStore, "countWaiting" | "listTeamsAtQuota">;
    readonly clock: Clock;
  }) {
    this.#workers = workers;
    this.#claims = claims;
    this.#clock = clock;
  }

  /** Requests neither wait for this read nor fail with it. */
  async look(): Promise<AvailabilityOf> {
    const loads = await this.#loads();
    return ({ config, teamId }) => {
      const availability = loads && availabilityOf(loads, config.worker_host);
      return availability !== "absent" && loads?.teamsAtQuota.has(teamId) ? "limited" : availability;
    };
  }

  #loads(): Promise<Loads | undefined> {
    const nowMs = this.#clock.now().getTime();
    if (this.#kept === undefined || this.#kept.untilMs <= nowMs) {
      const loads = withTimeout(this.#read(), WAIT_MS, { clock: this.#clock });
      this.#kept = { loads, untilMs: nowMs + KEPT_MS };
    }
    return this.#kept.loads;
  }

  async #read(): Promise<Loads | undefined> {
    try {
      const [hosts, teams, waiting] = await Promise.all([
        this.#workers.listLoads(),
        this.#claims.listTeamsAtQuota(),
        this.#claims.countWaiting(),
      ]);
      return { hosts, teamsAtQuota: new Set(teams), waiting };
    } catch {
      return undefined;
    }
  }
}

/**
 * Any worker takes a run that names no host. One run may wait for each free slot: it is taken at once, and may be the run
 * that is asked about.
 */
function availabilityOf({ hosts, waiting }: Loads, host: string | undefined): Availability {
  const usable = hosts.filter((load) => host === undefined || load.host === host);
  const names = new Set(["", ...usable.map((load) => load.host ?? "")]);
  const waitingHere = [...names].reduce((sum, name) => sum + (waiting.get(name) ?? 0), 0);
  const [slots, taken] = [sumOf(usable, "slots"), sumOf(usable, "taken")];
  const crowded = sumOf(usable, "crowdedSlots");
  if (slots === 0) {
    return "absent";
  }
  if (taken >= slots) {
    return "busy";
  }
  if (taken >= slots - crowded) {
    return "crowded";
  }
  return taken + waitingHere > slots - crowded ? "busy" : "free";
}

function sumOf(loads: readonly HostLoad[], member: "slots" | "taken" | "crowdedSlots"): number {
  return loads.reduce((sum, load) => sum + (load[member] ?? 0), 0);
}
