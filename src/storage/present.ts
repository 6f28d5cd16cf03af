export type Nullable<T> = {
  [Key in keyof T]: Exclude<T[Key], undefined> | (undefined extends T[Key] ? null : never);
};

/** The database's nulls are our absent members. */
export function present<T>(row: Nullable<T>): T {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as T;
}
