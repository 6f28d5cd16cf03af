type Json = Readonly<Record<string, unknown>>;

/** The member that tells which entries of two lists are the same one. */
const KEYS = ["command", "callback_id"] as const;

/**
 * The manifest of an app with everything that Errand needs. What people added to the app stays, and so do the texts that
 * they changed. Addresses and switches are those of Errand.
 */
export function mergeManifest(present: unknown, needed: unknown): unknown {
  if (Array.isArray(present) && Array.isArray(needed)) {
    return mergeLists(present, needed);
  }
  if (isObject(present) && isObject(needed)) {
    const names = Object.keys({ ...present, ...needed });
    return Object.fromEntries(names.map((name) => [name, mergeManifest(present[name], needed[name])]));
  }
  const isText = typeof present === "string" && !/^https?:/.test(present);
  return needed === undefined || isText ? present : needed;
}

function mergeLists(present: readonly unknown[], needed: readonly unknown[]): readonly unknown[] {
  const others = needed.filter((one) => !present.some((other) => isSame(other, one)));
  const kept = present.map((one) =>
    mergeManifest(
      one,
      needed.find((other) => isSame(one, other)),
    ),
  );
  return [...kept, ...others];
}

function isSame(one: unknown, other: unknown): boolean {
  if (!isObject(one) || !isObject(other)) {
    return one === other;
  }
  return KEYS.some((key) => one[key] !== undefined && one[key] === other[key]);
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
