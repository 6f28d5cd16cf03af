declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** UUIDv7, lower case. The order of run ids is the order of creation to the millisecond, and no proof of more. */
export type RunId = Branded<"RunId">;
export type PrincipalId = Branded<"PrincipalId">;
export type TeamId = Branded<"TeamId">;
/** What one conversation outside is called; made and read by the adapter alone, opaque to the core. */
export type ThreadKey = Branded<"ThreadKey">;
/** Names one attempt's right to write to a run; a new one for every claim. */
export type LeaseToken = Branded<"LeaseToken">;

/** A UUIDv7 (RFC 9562 §5.7): 48 bits of milliseconds, the rest random. */
export function newId<Id extends string = string>(now: Date): Id {
  const time = now.getTime().toString(16).padStart(12, "0");
  // Everything behind the version is that of a UUIDv4, of which the platform keeps random ones in store.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${crypto.randomUUID().slice(15)}` as Id;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The id in `text`, lower-cased, or undefined where `text` is no UUID. */
export function parseId<Id extends string = string>(text: string): Id | undefined {
  return UUID.test(text) ? (text.toLowerCase() as Id) : undefined;
}

export function parseRunId(text: string): RunId | undefined {
  return parseId<RunId>(text);
}
