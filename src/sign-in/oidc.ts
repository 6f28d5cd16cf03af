import type { OidcConfig } from "../config/sign-in.ts";
import type { Membership, ProvenAccount, SignInProvider } from "../core/people/sign-in-provider.ts";
import { FIRST_TEAM } from "../core/people/team.ts";
import { type Claims, OpenIdClient } from "./open-id-client.ts";

/** Signs in with any issuer of OpenID Connect. */
export function oidcProvider(config: OidcConfig): SignInProvider {
  const client = new OpenIdClient(config);
  return {
    method: "oidc",
    name: config.name,
    icon: "M8 1.8 3 3.7v4.1c0 3.1 2.1 5.3 5 6.4 2.9-1.1 5-3.3 5-6.4V3.7z",
    authorizationUrl: (attempt) => client.authorizationUrl(attempt),
    prove: async (callback, attempt) => accountOf(await client.claims(callback, attempt), config),
  };
}

/** The subject contains the issuer, because subjects are unique only there. */
function accountOf(
  claims: Claims,
  config: Pick<OidcConfig, "domains" | "groups" | "groupsClaim">,
): ProvenAccount {
  const email = verifiedEmailOf(claims);
  const name = textOf(claims.name) ?? textOf(claims.preferred_username);
  return {
    subject: `oidc:${claims.iss}#${claims.sub}`,
    ...(name === undefined ? {} : { displayName: name }),
    ...(email === undefined ? {} : { email }),
    groups: groupsOf(claims, config),
    memberships: membershipsOf(claims, email, config),
  };
}

const GROUPS_MAX = 500;

/** Some issuers give one group as a text. */
function groupsOf(claims: Claims, { groupsClaim }: Pick<OidcConfig, "groupsClaim">): readonly string[] {
  const texts = [claims[groupsClaim]].flat().map(textOf);
  return texts.filter((group) => group !== undefined).slice(0, GROUPS_MAX);
}

function membershipsOf(
  claims: Claims,
  email: string | undefined,
  { domains, groups, groupsClaim }: Pick<OidcConfig, "domains" | "groups" | "groupsClaim">,
): readonly Membership[] {
  const value = claims[groupsClaim];
  const own = new Set<unknown>(Array.isArray(value) ? value : [value]);
  const entry = groups.find(({ group }) => own.has(group));
  if (entry !== undefined) {
    return [{ team: entry.team, administrator: entry.role === "administrator" }];
  }
  const domain = email?.slice(email.lastIndexOf("@") + 1).toLowerCase();
  return domain !== undefined && domains.includes(domain) ? [{ team: FIRST_TEAM }] : [];
}

/** Issuers let people enter any address, and verify it later or never. */
function verifiedEmailOf({ email, email_verified: isVerified }: Claims): string | undefined {
  const address = textOf(email);
  return isVerified === true && address?.includes("@") ? address : undefined;
}

const TEXT_MAX = 200;

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" && value.length <= TEXT_MAX ? value : undefined;
}
