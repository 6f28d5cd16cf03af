import type { Viewer } from "../people/principal.ts";
import type { Run } from "../runs/run.ts";
import type { UsageQuery, UsageRow } from "./usage.ts";

/** What runs say together. Each looks only at runs that the viewer may see. */
export interface RunReports {
  /** The newest run in each of these environments, by the environment's id. */
  lastRuns(viewer: Viewer, environmentIds: readonly string[]): Promise<ReadonlyMap<string, LastRuns>>;
  /** In the order of the groups that were asked for, at most `limit` rows. */
  usage(query: UsageQuery): Promise<readonly UsageRow[]>;
}

export interface LastRuns {
  readonly created: Run;
  /** When a run was last begun there; undefined: none ever was. */
  readonly startedAt?: Date;
}
