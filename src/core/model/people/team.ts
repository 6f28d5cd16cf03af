import type { TeamId } from "../../basics/ids.ts";

/** A team's data is separate from that of every other team. */
export interface Team {
  readonly id: TeamId;
  /** Unique on this server. */
  readonly name: string;
  /** The most that its runs may share with guests. */
  readonly sharing: Sharing;
  readonly createdAt: Date;
}

export const SHARINGS = ["off", "viewer", "editor"] as const;
export type Sharing = (typeof SHARINGS)[number];

/** The first team. The migrations create it. */
export const FIRST_TEAM = "00000000-0000-7000-8000-000000000001" as TeamId;
