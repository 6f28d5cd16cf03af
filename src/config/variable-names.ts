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

/**
 * Variables of the command line and of the client libraries. The server ignores them, because both are often started in
 * the same shell.
 */
const CLIENT_VARIABLES = [
  "ERRAND_API_KEY",
  "ERRAND_CONFIG_DIR",
  "ERRAND_CONTEXT",
  "ERRAND_LOG",
  "ERRAND_URL",
  "ERRAND_WEBHOOK_SECRET",
] as const;

type Env = Readonly<Record<string, string | undefined>>;

interface ServerEnvironment {
  readonly env: Env;
  /** What the operator should change. */
  readonly notes: readonly string[];
}

const FORMER_NAME =
  "ERRAND_API_KEY is used as the administrator's key. Rename it to ERRAND_ADMIN_KEY, because ERRAND_API_KEY is the variable of the clients.";

/**
 * Removes the variables of the clients. `ERRAND_API_KEY` was the former name of `ERRAND_ADMIN_KEY` and counts as it, unless
 * another variable shows that it is meant for a client.
 */
export function withoutClientVariables(environment: Env): ServerEnvironment {
  const { ERRAND_ADMIN_KEY, ERRAND_API_KEY, ERRAND_CONTEXT, ERRAND_URL } = environment;
  const env = Object.fromEntries(
    Object.entries(environment).filter(([name]) => !CLIENT_VARIABLES.some((known) => known === name)),
  );
  const isFormerName =
    ERRAND_API_KEY !== undefined && (ERRAND_ADMIN_KEY ?? ERRAND_CONTEXT ?? ERRAND_URL) === undefined;
  return isFormerName
    ? { env: { ...env, ERRAND_ADMIN_KEY: ERRAND_API_KEY }, notes: [FORMER_NAME] }
    : { env, notes: [] };
}
