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
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const milliseconds = now.getTime();
  for (let index = 0; index < 6; index += 1) {
    bytes[index] = Math.floor(milliseconds / 2 ** (8 * (5 - index))) % 256;
  }
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  return formatUuid(bytes) as Id;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The id in `text`, lower-cased, or undefined where `text` is no UUID. */
export function parseId<Id extends string = string>(text: string): Id | undefined {
  return UUID.test(text) ? (text.toLowerCase() as Id) : undefined;
}

export function parseRunId(text: string): RunId | undefined {
  return parseId<RunId>(text);
}

function formatUuid(bytes: Uint8Array): string {
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
