import type { TeamId } from "../ids.ts";

/** A workspace, organisation or account of an outside system that talks to us through an adapter. */
export interface Installation {
  readonly id: string;
  readonly teamId: TeamId;
  readonly adapter: string;
  /** The platform's own id. */
  readonly externalId: string;
  readonly name?: string;
  /** false: what comes from there is refused, with the reason said there. */
  readonly enabled: boolean;
  readonly createdAt: Date;
}
