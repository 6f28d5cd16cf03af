import type { Viewer } from "../core/people/principal.ts";
import { Prisma } from "./generated/client.ts";

/** Which rows of the table `runs` somebody sees: the same rule as `isVisible` of the core. */
export function visibleTo({ id, teamId, administrator, onlyRunId }: Viewer): Prisma.Sql {
  const ofTeam = Prisma.sql`team_id = ${teamId}::uuid`;
  if (onlyRunId !== undefined) return Prisma.sql`(${ofTeam} AND id = ${onlyRunId}::uuid)`;
  if (administrator) return ofTeam;
  return Prisma.sql`(${ofTeam} AND (team_owned OR creator_id = ${id}::uuid))`;
}
