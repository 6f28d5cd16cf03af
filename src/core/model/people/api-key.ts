import type { PrincipalId } from "../../basics/ids.ts";
import type { Principal, Viewer } from "./principal.ts";
import type { SignIn } from "./sign-in.ts";

/** What a key allows at most. A key never allows more than its principal may do. */
export const SCOPES = ["runs:read", "runs:write", "settings:read", "settings:write", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

/** What a principal may do that does not administer. */
export const MEMBER_SCOPES: readonly Scope[] = ["runs:write", "settings:write"];

/** A key as it can be shown. Its secret is not stored. */
export interface ApiKey {
  readonly id: string;
  readonly principalId: PrincipalId;
  readonly name: string;
  /** The first characters of the secret, by which its owner recognises it. */
  readonly hint: string;
  readonly scopes: readonly Scope[];
  /** Absent for the installation's own key, which the operator keeps and replaces. */
  readonly createdBy?: PrincipalId;
  /** The key with which it was created. Absent for keys that were created without one. */
  readonly createdByKey?: string;
  readonly createdAt: Date;
  readonly expiresAt?: Date;
  /** Accurate to the minute. */
  readonly lastUsedAt?: Date;
  readonly revokedAt?: Date;
}

/** A known key with its principal. */
export interface KnownKey {
  readonly key: ApiKey;
  readonly principal: Principal;
}

/** The principal of a request, with what its API key or its sign-in to the pages allows at most. */
export interface KeyHolder {
  readonly principal: Principal;
  readonly scopes: readonly Scope[];
  /** Absent for a sign-in that was made without a key. */
  readonly key?: ApiKey;
  /** Absent for a request with a key. */
  readonly signIn?: SignIn;
}

export function holderOfKey({ key, principal }: KnownKey): KeyHolder {
  const now = { ...key, scopes: scopesNow(key, principal) };
  return { principal, scopes: now.scopes, key: now };
}

/** The scopes of a key, without those that its owner no longer has: a former administrator's key is a member's. */
export function scopesNow(
  { scopes }: Pick<ApiKey, "scopes">,
  { administrator }: Pick<Principal, "administrator">,
): readonly Scope[] {
  return administrator || !scopes.includes("admin")
    ? scopes
    : [...new Set([...scopes.filter((scope) => scope !== "admin"), ...MEMBER_SCOPES])];
}

/** Whether the key is valid now. */
export function isAlive({ key, principal }: KnownKey, now: Date): boolean {
  if (key.revokedAt !== undefined || principal.disabled) {
    return false;
  }
  return key.expiresAt === undefined || key.expiresAt > now;
}

/** What the holder may see. Without the right to administer, a key or a sign-in sees only what a member sees. */
export function viewerWith(holder: KeyHolder): Viewer {
  return { ...holder.principal, administrator: hasScope(holder, "admin") };
}

/** `admin` includes all other scopes, and writing includes reading. */
export function hasScope(
  { principal, scopes }: Pick<KeyHolder, "principal" | "scopes">,
  wanted: Scope,
): boolean {
  if (wanted === "admin") {
    return principal.administrator && scopes.includes("admin");
  }
  if (scopes.includes("admin") || scopes.includes(wanted)) {
    return true;
  }
  return wanted.endsWith(":read") && scopes.some((scope) => scope === wanted.replace(":read", ":write"));
}
