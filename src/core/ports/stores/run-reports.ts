import type { Viewer } from "../../model/people/principal.ts";
import type { Run } from "../../model/runs/run.ts";
import type { UsageQuery, UsageRow } from "../../model/usage/usage.ts";

/** Statistics over runs. Only runs that the viewer may see count. */
export interface RunReports {
  /** The newest run in each of these environments, by the environment's id. */
  lastRuns(viewer: Viewer, environmentIds: readonly string[]): Promise<ReadonlyMap<string, LastRuns>>;
  /** In the order of the requested groups, at most `limit` rows. */
  usage(query: UsageQuery): Promise<readonly UsageRow[]>;
}

export interface LastRuns {
  readonly created: Run;
  /** The last start of a run there; undefined: there was none. */
  readonly startedAt?: Date;
}
