import type { PrincipalId } from "../../basics/ids.ts";
import type { TeamRecord } from "../people/team-record.ts";
import type { RunConfig } from "../runs/run.ts";

/** The defaults of a service account that executes runs. Its id and its name are those of the principal. */
export interface NamedAgent extends TeamRecord {
  readonly id: PrincipalId;
  readonly description?: string;
  /** The configuration under the values of the run's own request. */
  readonly config: RunConfig;
  /** The only team secrets that its runs get. Empty: all of them. */
  readonly secretNames: readonly string[];
  /** Whether it may request runs in the name of members. */
  readonly onBehalfOfEnabled: boolean;
  /** Members of requests that have no effect and are given back. */
  readonly others: Readonly<Record<string, unknown>>;
}
