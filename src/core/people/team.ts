import type { TeamId } from "../ids.ts";

/** Whose data stays apart from everybody else's. */
export interface Team {
  readonly id: TeamId;
  /** Unique in the installation. */
  readonly name: string;
  readonly createdAt: Date;
}

/** The team that is there from the beginning; the migrations made it. */
export const FIRST_TEAM = "00000000-0000-7000-8000-000000000001" as TeamId;
