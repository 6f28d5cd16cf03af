import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { parseJson } from "../../core/basics/parse-json.ts";
import { FIRST_TEAM } from "../../core/model/people/team.ts";
import type {
  Membership,
  ProvenAccount,
  Renewal,
  SignInProvider,
} from "../../core/ports/sign-in-provider.ts";
import { entryOf, gapsOf, groupsOf, leavesGroupsOut, suffices, textOf, verifiedEmailOf } from "./claims.ts";
import type { OidcConfig } from "./oidc-config.ts";
import { OpenIdClient, type Proof } from "./open-id-client.ts";
import { SignInTroubles } from "./sign-in-troubles.ts";

type Rules = Pick<OidcConfig, "clientId" | "domains" | "groups" | "groupsClaim" | "issuer" | "trustsEmail">;

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
  const client = new OpenIdClient({ ...config, suffices: (claims) => suffices(claims, config) });
  const troubles = new SignInTroubles(config.name);
  return {
    method: "oidc",
    name: config.name,
    icon: "M8 1.8 3 3.7v4.1c0 3.1 2.1 5.3 5 6.4 2.9-1.1 5-3.3 5-6.4V3.7z",
    authorizationUrl: (attempt) => client.authorizationUrl(attempt),
    prove: (callback, attempt) =>
      troubles.watch(async () => accountOf(await client.prove(callback, attempt), config)),
    check: troubles.check,
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
  return stored.data.hasEmail && verifiedEmailOf(answer.claims, config) === undefined
    ? { outcome: "unclear", reason: "The issuer names no e-mail address without the browser." }
    : { outcome: "proven", account: accountOf(answer, config) };
}

/** The setting may be the address of the issuer's metadata, or end with a slash. */
function isOf(issuer: string, iss: string): boolean {
  const bare = (text: string) => text.replace(/\/(\.well-known\/.*)?$/, "");
  return bare(issuer) === bare(iss);
}

/** The subject contains the issuer, because subjects are unique only there. */
function accountOf({ claims, gaps = [], refreshToken }: Proof, config: Rules): ProvenAccount {
  const { iss, sub } = claims;
  const email = verifiedEmailOf(claims, config);
  const name = textOf(claims.name) ?? textOf(claims.preferred_username);
  const groups = groupsOf(claims, config);
  const areLeftOut = leavesGroupsOut(claims, config);
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
    gaps: [...gapsOf(claims, config), ...gaps],
  };
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
