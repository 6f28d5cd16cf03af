import { createHash } from "node:crypto";

/** Of our own: nothing else names things below it. */
const NAMESPACE = Buffer.from("8d5a6a3e5f0c4c1e9b7de2a1f4c30917", "hex");

/** The same UUID for the same name, each time and everywhere (RFC 9562, version 5). */
export function nameUuid(name: string): string {
  const bytes = createHash("sha1").update(NAMESPACE).update(name).digest().subarray(0, 16);
  bytes[6] = 0x50 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
