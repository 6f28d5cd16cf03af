import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { parseJson } from "../../core/basics/parse-json.ts";
import { isPlainEmail } from "../../core/model/people/plain-name.ts";
import { FIRST_TEAM } from "../../core/model/people/team.ts";
import type {
  Membership,
  ProvenAccount,
  Renewal,
  SignInProvider,
} from "../../core/ports/sign-in-provider.ts";
import type { OidcConfig } from "./oidc-config.ts";
import { type Claims, OpenIdClient, type Proof } from "./open-id-client.ts";

type Rules = Pick<OidcConfig, "clientId" | "domains" | "groups" | "groupsClaim" | "issuer">;

/** What a later question to the issuer needs. */
const renewal = z.object({
  iss: z.string(),
  sub: z.string(),
  refreshToken: z.string(),
  /** Another client, or another issuer, refuses the token, which says nothing of the person. */
  clientId: z.string(),
  /** Whether the issuer named groups and a usable e-mail address when the browser took part. */
  hasGroups: z.boolean(),
  hasEmail: z.boolean(),
});

/** Signs in with any issuer of OpenID Connect. */
export function oidcProvider(config: OidcConfig): SignInProvider {
  const client = new OpenIdClient(config);
  return {
    method: "oidc",
    name: config.name,
    icon: "M8 1.8 3 3.7v4.1c0 3.1 2.1 5.3 5 6.4 2.9-1.1 5-3.3 5-6.4V3.7z",
    authorizationUrl: (attempt) => client.authorizationUrl(attempt),
    prove: async (callback, attempt) => accountOf(await client.prove(callback, attempt), config),
    again: { answers: () => client.answers(), renew: (text) => renew(client, text, config) },
  };
}

/**
 * Issuers that name groups may leave them out when the browser takes no part. That says nothing of the person, so the
 * browser is asked.
 */
async function renew(client: OpenIdClient, text: string, config: Rules): Promise<Renewal> {
  const stored = renewal.safeParse(parseJson(text));
  if (!stored.success) {
    return { outcome: "unclear", reason: "What was stored for the renewal cannot be read." };
  }
  if (stored.data.clientId !== config.clientId || !isOf(config.issuer, stored.data.iss)) {
    return { outcome: "unclear", reason: "Another client or issuer is configured since." };
  }
  const answer = await client.refresh(stored.data);
  if (answer.outcome === "unanswered") {
    const { reason, refreshToken } = answer;
    return { outcome: "unanswered", reason, renewal: JSON.stringify({ ...stored.data, refreshToken }) };
  }
  if (answer.outcome !== "proven") {
    return answer;
  }
  if (stored.data.hasGroups && groupsOf(answer.claims, config) === undefined) {
    return { outcome: "unclear", reason: "The issuer names no groups without the browser." };
  }
  return stored.data.hasEmail && verifiedEmailOf(answer.claims) === undefined
    ? { outcome: "unclear", reason: "The issuer names no e-mail address without the browser." }
    : { outcome: "proven", account: accountOf(answer, config) };
}

/** The setting may be the address of the issuer's metadata, or end with a slash. */
function isOf(issuer: string, iss: string): boolean {
  const bare = (text: string) => text.replace(/\/(\.well-known\/.*)?$/, "");
  return bare(issuer) === bare(iss);
}

/** The subject contains the issuer, because subjects are unique only there. */
function accountOf({ claims, refreshToken }: Proof, config: Rules): ProvenAccount {
  const { iss, sub } = claims;
  const email = verifiedEmailOf(claims);
  const name = textOf(claims.name) ?? textOf(claims.preferred_username);
  const groups = groupsOf(claims, config);
  const areLeftOut = leavesOut(claims, config);
  const { clientId } = config;
  const has = { hasGroups: groups !== undefined, hasEmail: email !== undefined };
  const later = refreshToken === undefined ? undefined : { iss, sub, refreshToken, clientId, ...has };
  return {
    subject: `oidc:${iss}#${sub}`,
    ...defined({ displayName: name, email }),
    ...(areLeftOut ? {} : { groups: groups ?? [], decidesAlone: true }),
    memberships: membershipsOf(groups ?? [], email, config),
    isAdministratorWith: (names, team) => {
      const entry = entryOf(names, config);
      return entry?.role === "administrator" && team.includes(entry.team);
    },
    ...defined({ renewal: later === undefined ? undefined : JSON.stringify(later) }),
    gaps: gapsOf(claims, email, areLeftOut),
  };
}

const GROUPS_MAX = 500;

/** Some issuers give one group as a text. Undefined: the issuer names none, not even an empty list. */
function groupsOf(
  claims: Claims,
  { groupsClaim }: Pick<Rules, "groupsClaim">,
): readonly string[] | undefined {
  const value = claims[groupsClaim];
  if (value === undefined) {
    return undefined;
  }
  const texts = [value].flat().map(textOf);
  return texts.filter((group) => group !== undefined).slice(0, GROUPS_MAX);
}

/** An issuer can name a place to ask for a claim that is too long for a token (OpenID Connect Core, 5.6.2). */
function leavesOut(claims: Claims, { groupsClaim }: Pick<Rules, "groupsClaim">): boolean {
  return claims[groupsClaim] === undefined && Object.hasOwn(Object(claims._claim_names), groupsClaim);
}

function membershipsOf(
  groups: readonly string[],
  email: string | undefined,
  config: Rules,
): readonly Membership[] {
  const entry = entryOf(groups, config);
  if (entry !== undefined) {
    return [{ team: entry.team, administrator: entry.role === "administrator" }];
  }
  const domain = email?.slice(email.lastIndexOf("@") + 1).toLowerCase();
  return domain !== undefined && config.domains.includes(domain) ? [{ team: FIRST_TEAM }] : [];
}

function entryOf(
  names: readonly string[],
  { groups }: Pick<Rules, "groups">,
): Rules["groups"][number] | undefined {
  const own = new Set(names);
  return groups.find(({ group }) => own.has(group));
}

/** Issuers let people enter any address, and verify it later or never. */
function verifiedEmailOf({ email, email_verified: isVerified }: Claims): string | undefined {
  const address = textOf(email);
  return isVerified === true && address !== undefined && isPlainEmail(address) ? address : undefined;
}

function gapsOf(
  { email, email_verified: isVerified }: Claims,
  usable: string | undefined,
  areLeftOut: boolean,
) {
  const hasNone = email === undefined ? "The issuer names no e-mail address." : undefined;
  const isOpen =
    isVerified === true ? "The e-mail address is malformed." : "The claim email_verified is not true.";
  return [
    ...(usable === undefined ? [hasNone ?? isOpen] : []),
    ...(areLeftOut ? ["The issuer left the groups out (_claim_names), because there are too many."] : []),
  ];
}

const TEXT_MAX = 200;

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" && value.length <= TEXT_MAX ? value : undefined;
}
