import { isVisible } from "../../../../src/core/model/policies/visibility.ts";
import type { SkillHistory } from "../../../../src/core/ports/stores/skill-history.ts";
import type { InMemoryStatements } from "./in-memory-database.ts";

export function createInMemorySkillHistory(database: InMemoryStatements): SkillHistory {
  return {
    lastRuns: (viewer, skillIds) =>
      database.read(({ runs }) => {
        const found = new Map<string, Date>();
        for (const { run } of runs.values()) {
          const { createdAt, skill } = run;
          if (skill === undefined || !skillIds.includes(skill) || !isVisible(run, viewer)) {
            continue;
          }
          if (createdAt > (found.get(skill) ?? new Date(0))) {
            found.set(skill, createdAt);
          }
        }
        return found;
      }),
  };
}
