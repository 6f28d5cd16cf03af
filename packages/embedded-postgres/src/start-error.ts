/**
 * The server cannot start for a reason that the operator can change. The message is one line for that person and says
 * what to do.
 */
export class PostgresStartError extends Error {
  override readonly name = "PostgresStartError";
}
