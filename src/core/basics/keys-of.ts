/** The names of the members, for an object that has no others than its type says. */
export function keysOf<T extends object>(record: T): (keyof T & string)[] {
  return Object.keys(record) as (keyof T & string)[];
}
