/** The members of `T` that cannot be undefined, and the others as members that may be absent. */
export type Defined<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & { [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> };

/** The members that are not undefined. It is for members that must be absent rather than undefined. */
export function defined<const T extends object>(members: T): Defined<T> {
  const kept: Partial<T> = {};
  for (const name in members) {
    if (members[name] !== undefined) {
      kept[name] = members[name];
    }
  }
  return kept as T & Defined<T>;
}
