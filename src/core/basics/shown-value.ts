const LENGTH_MAX = 80;
/** An address with a password, or with a query, which may hold a key. */
const MAY_HOLD_SECRET = /@|[?#].*=/s;

/**
 * The end of a message about a wrong value: `, not "…"`, on one line. Empty if the value may hold a secret. The caller
 * leaves out values of variables that are secret as a whole.
 */
export function butNot(value: string): string {
  if (MAY_HOLD_SECRET.test(value)) {
    return "";
  }
  return `, not ${JSON.stringify(value.length > LENGTH_MAX ? `${value.slice(0, LENGTH_MAX)}…` : value)}`;
}
