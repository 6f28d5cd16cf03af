import type { TeamId } from "../../basics/ids.ts";

/** A workspace, organisation or account of an outside system that an adapter connects to Errand. */
export interface Installation {
  readonly id: string;
  readonly teamId: TeamId;
  readonly adapter: string;
  /** The platform's own id. */
  readonly externalId: string;
  readonly name?: string;
  /** false: messages from there are refused, and the thread shows the reason. */
  readonly enabled: boolean;
  /** The team that owns the installation once one of its administrators accepts it. */
  readonly offeredTo?: TeamId;
  /** Why the platform refuses the app there, and what an operator can do. Absent: it works, as far as is known. */
  readonly problem?: string;
  readonly createdAt: Date;
}
