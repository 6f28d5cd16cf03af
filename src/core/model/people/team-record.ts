import type { TeamId } from "../../basics/ids.ts";

/** A record that a team keeps: an environment, a schedule, a policy. */
export interface TeamRecord {
  readonly id: string;
  readonly teamId: TeamId;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}
