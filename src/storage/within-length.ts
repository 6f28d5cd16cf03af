/** How the length of a row is measured, as SQL, and the length that a page may reach. */
export interface LengthLimit {
  /** The stored size, which the database knows without unpacking the row. */
  readonly stored: string;
  readonly text: string;
  readonly max: number;
}

/**
 * The rows of `page` in this order, up to the one that reaches the length limit. The database must unpack a text to
 * measure it, so a page that is too long in its stored size is cut first.
 */
export function withinLength(page: string, order: string, { max, stored, text }: LengthLimit): string {
  return `
    SELECT * FROM (
      SELECT *, ${sumBefore(text, order)} AS length_before FROM (
        SELECT *, ${sumBefore(stored, order)} AS stored_before FROM (${page}) page
      ) stored WHERE stored_before < ${max}
    ) measured WHERE length_before < ${max}`;
}

/** The lengths of the earlier rows together. */
export function sumBefore(length: string, order: string): string {
  return `coalesce(sum(${length}) OVER (ORDER BY ${order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)`;
}
