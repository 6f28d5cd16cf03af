/** A name of our own is at most this many letters away from what the operator meant. */
const DISTANCE_MAX = 4;

/** Errand sets these for the programs of an agent, which may start another Errand. */
const SET_FOR_AGENTS = /^ERRAND_(SANDBOX_ID|PATH|ARTIFACTS_DIR|HELD_BACK_.*)$/;

/** The problems with variables that begin like ours and that nothing reads, because a typing mistake would be ignored. */
export function problemsOfUnknown(names: readonly string[], known: ReadonlySet<string>): readonly string[] {
  const unknown = names.filter(
    (name) => name.startsWith("ERRAND_") && !known.has(name) && !SET_FOR_AGENTS.test(name),
  );
  return unknown.map((name) => {
    const nearest = nearestTo(name, known);
    return `${name} is unknown.${nearest === undefined ? " docs/configuration.md lists all variables." : ` Did you mean ${nearest}?`}`;
  });
}

function nearestTo(name: string, known: ReadonlySet<string>): string | undefined {
  const ranked = [...known]
    .map((candidate) => ({ candidate, distance: distanceOf(name, candidate) }))
    .sort((a, b) => a.distance - b.distance);
  const [nearest] = ranked;
  return nearest !== undefined && nearest.distance <= DISTANCE_MAX ? nearest.candidate : undefined;
}

/** The letters to insert, delete or replace (Levenshtein), computed row by row. */
function distanceOf(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (const [column, other] of [...to].entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
