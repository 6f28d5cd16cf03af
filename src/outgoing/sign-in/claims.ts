import { isPlainEmail } from "../../core/model/people/plain-name.ts";
import type { OidcConfig } from "./oidc-config.ts";
import type { Claims } from "./open-id-client.ts";

type Rules = Pick<OidcConfig, "domains" | "groups" | "groupsClaim" | "trustsEmail">;

const TEXT_MAX = 200;
const GROUPS_MAX = 500;

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" && value.length <= TEXT_MAX ? value : undefined;
}

/** Some issuers give one group as a text. Undefined: the issuer names none, not even an empty list. */
export function groupsOf(
  claims: Claims,
  { groupsClaim }: Pick<Rules, "groupsClaim">,
): readonly string[] | undefined {
  const value = valueAt(claims, groupsClaim);
  if (value === undefined) {
    return undefined;
  }
  const texts = [value].flat().map(textOf);
  return texts.filter((group) => group !== undefined).slice(0, GROUPS_MAX);
}

/**
 * A claim by its name, or by the path to a member of it, as in `realm_access.roles`. Names may contain points too, as in
 * `https://acme.example/groups`.
 */
function valueAt(value: unknown, path: string): unknown {
  if (typeof value !== "object" || value === null) {
    return undefined;
  }
  if (Object.hasOwn(value, path)) {
    return Reflect.get(value, path);
  }
  for (let point = path.indexOf("."); point >= 0; point = path.indexOf(".", point + 1)) {
    const name = path.slice(0, point);
    const found = Object.hasOwn(value, name)
      ? valueAt(Reflect.get(value, name), path.slice(point + 1))
      : undefined;
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}

/** An issuer can name a place to ask for a claim that is too long for a token (OpenID Connect Core, 5.6.2). */
export function leavesGroupsOut(claims: Claims, { groupsClaim }: Pick<Rules, "groupsClaim">): boolean {
  return (
    groupsOf(claims, { groupsClaim }) === undefined && valueAt(claims._claim_names, groupsClaim) !== undefined
  );
}

/** The first listed group that the person has. Keycloak writes groups as paths: `/eng` is the group `eng`. */
export function entryOf(
  names: readonly string[],
  { groups }: Pick<Rules, "groups">,
): Rules["groups"][number] | undefined {
  const bare = (name: string) => name.replace(/^\//, "");
  const own = new Set(names.map(bare));
  return groups.find(({ group }) => own.has(bare(group)));
}

/**
 * Issuers let people enter any address, and verify it later or never. An issuer that says nothing about it is believed
 * only if the operator says so.
 */
export function verifiedEmailOf(
  { email, email_verified: isVerified = undefined }: Claims,
  { trustsEmail }: Pick<Rules, "trustsEmail">,
): string | undefined {
  const address = textOf(email);
  const counts = isVerified === true || (isVerified === undefined && trustsEmail);
  return counts && address !== undefined && isPlainEmail(address) ? address : undefined;
}

/** Whether the claims say everything that the configured rules look at. Otherwise the user info is asked for the rest. */
export function suffices(claims: Claims, rules: Rules): boolean {
  const hasEmail = rules.domains.length === 0 || verifiedEmailOf(claims, rules) !== undefined;
  const hasGroups = rules.groups.length === 0 || groupsOf(claims, rules) !== undefined;
  return hasEmail && hasGroups;
}

/** Why a person may lack a membership. */
export function gapsOf(claims: Claims, rules: Rules): readonly string[] {
  const { email, email_verified: isVerified } = claims;
  const usable = verifiedEmailOf(claims, rules);
  const noAddress = email === undefined ? "The issuer names no e-mail address." : undefined;
  const unverified =
    isVerified === undefined
      ? "The issuer sends no email_verified."
      : isVerified === true
        ? "The e-mail address is malformed."
        : "The claim email_verified is not true.";
  return [
    ...(usable === undefined ? [noAddress ?? unverified] : []),
    ...(leavesGroupsOut(claims, rules)
      ? ["The issuer left the groups out (_claim_names), because there are too many."]
      : []),
  ];
}
