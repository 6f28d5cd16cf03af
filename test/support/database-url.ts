/** Holds Errand's schema and no rows. Test databases are copies of it. */
export const TEMPLATE_DATABASE = "errand_template";

/** The address of another database on the same server. */
export function databaseUrl(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}
