import type { SkillHistory } from "../core/ports/stores/skill-history.ts";
import type { Statements } from "./database.ts";
import { visibleTo } from "./run-filters.ts";

interface Row {
  readonly skill: string;
  readonly last: Date;
}

/** Uses the index of team, skill and creation time. */
export function createSkillHistory(database: Statements): SkillHistory {
  return {
    lastRuns: async (viewer, skillIds) => {
      const ids = [...skillIds];
      if (ids.length === 0) {
        return new Map();
      }
      const rows = await database.query(
        (client) => client.$queryRaw<Row[]>`
          SELECT skill, max(created_at) AS last FROM runs
           WHERE ${visibleTo(viewer)} AND skill = ANY(${ids}) GROUP BY skill`,
      );
      return new Map(rows.map(({ last, skill }) => [skill, last]));
    },
  };
}
