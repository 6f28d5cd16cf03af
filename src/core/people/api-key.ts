import type { PrincipalId } from "../ids.ts";
import type { Principal, Viewer } from "./principal.ts";

/** What a key lets its holder do, at most: what the principal itself may not do, no key of it may. */
export const SCOPES = ["runs:read", "runs:write", "settings:read", "settings:write", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

/** A key as it may be shown: its secret is not kept. */
export interface ApiKey {
  readonly id: string;
  readonly principalId: PrincipalId;
  readonly name: string;
  /** The first characters of the secret, by which its owner knows it again. */
  readonly hint: string;
  readonly scopes: readonly Scope[];
  /** Absent: nobody made it here, it is the installation's own key, which its operator keeps and replaces. */
  readonly createdBy?: PrincipalId;
  readonly createdAt: Date;
  readonly expiresAt?: Date;
  /** To the minute. */
  readonly lastUsedAt?: Date;
  readonly revokedAt?: Date;
}

/** A key that is known, with whose it is. */
export interface KeyHolder {
  readonly key: ApiKey;
  readonly principal: Principal;
}

/** Whether the key opens anything now. */
export function isAlive({ key, principal }: KeyHolder, now: Date): boolean {
  if (key.revokedAt !== undefined || principal.disabled) return false;
  return key.expiresAt === undefined || key.expiresAt > now;
}

/** What the holder may see with this key. One that may not administer sees no more than a member does. */
export function viewerWith(holder: KeyHolder): Viewer {
  return { ...holder.principal, administrator: hasScope(holder, "admin") };
}

/** `admin` includes all others, and writing includes reading. */
export function hasScope({ key, principal }: KeyHolder, wanted: Scope): boolean {
  if (wanted === "admin") return principal.administrator && key.scopes.includes("admin");
  if (key.scopes.includes("admin") || key.scopes.includes(wanted)) return true;
  return wanted.endsWith(":read") && key.scopes.some((scope) => scope === wanted.replace(":read", ":write"));
}
