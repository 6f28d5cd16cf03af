/**
 * Variables of the command line and of the client libraries. The server ignores them, because both are often started in
 * the same shell.
 */
const CLIENT_VARIABLES = [
  "ERRAND_API_KEY",
  "ERRAND_CONFIG_DIR",
  "ERRAND_CONTEXT",
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
