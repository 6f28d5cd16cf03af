import { v5 } from "uuid";

/** No other file may create UUIDs in this namespace. */
const NAMESPACE = "8d5a6a3e-5f0c-4c1e-9b7d-e2a1f4c30917";

/** Gives the same UUID for the same name in every process (RFC 9562, version 5). */
export function nameUuid(name: string): string {
  return v5(name, NAMESPACE);
}
