declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** A UUIDv7 in lower case. Run ids sort by creation time to the millisecond, but do not prove the order. */
export type RunId = Branded<"RunId">;
export type PrincipalId = Branded<"PrincipalId">;
export type TeamId = Branded<"TeamId">;
/** The name of an outside conversation. Only its adapter can read it. */
export type ThreadKey = Branded<"ThreadKey">;
/** Identifies one attempt's right to write to a run. Each claim gets a new one. */
export type LeaseToken = Branded<"LeaseToken">;

/** A UUIDv7 (RFC 9562 §5.7): 48 bits of milliseconds, the rest random. */
export function newId<Id extends string = string>(now: Date): Id {
  const time = now.getTime().toString(16).padStart(12, "0");
  // The part after the version comes from a UUIDv4, because the platform caches random ones.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${crypto.randomUUID().slice(15)}` as Id;
}

/** An id made of a SHA-256, for what must exist once. */
export function idOfDigest(hash: string): string {
  return hash.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The id in `text` in lower case, or undefined if `text` is not a UUID. */
export function parseId<Id extends string = string>(text: string): Id | undefined {
  return UUID.test(text) ? (text.toLowerCase() as Id) : undefined;
}

export function parseRunId(text: string): RunId | undefined {
  return parseId<RunId>(text);
}
