import { afterEach, describe, expect, test } from "vitest";
import { FIRST_TEAM } from "../../../../src/core/model/people/team.ts";
import type { ProvenAccount, SignInProvider } from "../../../../src/core/ports/sign-in-provider.ts";
import { oidcProvider } from "../../../../src/outgoing/sign-in/oidc.ts";
import { Browser } from "../../../support/browser.ts";
import {
  type IssuerHabits,
  OIDC_CLIENT,
  type OidcIssuer,
  startOidcIssuer,
} from "../../../support/oidc-issuer.ts";

const REDIRECT = "http://127.0.0.1:8787/signin/oidc/callback";
const ATTEMPT = {
  redirectUri: REDIRECT,
  state: "the-state-of-this-browser",
  nonce: "the-nonce-of-this-browser",
  verifier: "a-verifier-of-this-browser-that-is-at-least-43-characters-long",
};

type Claims = Readonly<Record<string, unknown>>;
type Rules = Partial<Parameters<typeof oidcProvider>[0]>;

let issuer: OidcIssuer;
afterEach(() => issuer.stop());

async function start(habits: IssuerHabits, rules: Rules): Promise<SignInProvider> {
  issuer = await startOidcIssuer(REDIRECT, habits);
  return oidcProvider({
    ...OIDC_CLIENT,
    issuer: issuer.url,
    name: "acme SSO",
    scopes: "openid email profile",
    domains: [],
    trustsEmail: false,
    groupsClaim: "groups",
    groups: [],
    ...rules,
  });
}

/** Signs Ann in, as a browser does. */
async function signIn(provider: SignInProvider, claims: Claims): Promise<ProvenAccount> {
  issuer.accounts.set("ann", claims);
  issuer.next = "ann";
  const address = await provider.authorizationUrl(ATTEMPT);
  const { url } = await new Browser().open(address.href, ({ href }) => href.startsWith(REDIRECT));
  return provider.prove(url, ATTEMPT);
}

const ENG = { group: "eng", team: FIRST_TEAM, role: "member" } as const;
const LEADS = { group: "eng/leads", team: FIRST_TEAM, role: "administrator" } as const;
const MEMBER = { team: FIRST_TEAM };
const ANN = { email: "ann@acme.test", email_verified: true, name: "Ann" };
const MANY = {
  _claim_names: { groups: "src1" },
  _claim_sources: { src1: { endpoint: "https://graph.example/groups" } },
};

/** What is usual with the issuers that the guide names, and what Errand makes of it. */
const ISSUERS: readonly [string, IssuerHabits, Rules, Claims, Partial<ProvenAccount>][] = [
  [
    "Authelia: the secret only in a header, and claims only in the user info",
    { authMethod: "client_secret_basic", listed: ["client_secret_basic"] },
    { groups: [ENG] },
    { ...ANN, groups: ["eng"] },
    { memberships: [{ team: FIRST_TEAM, administrator: false }], groups: ["eng"], gaps: [] },
  ],
  [
    "Keycloak: groups as paths",
    { fullToken: true },
    { groups: [LEADS, ENG] },
    { ...ANN, groups: ["/eng", "/eng/leads"] },
    { memberships: [{ team: FIRST_TEAM, administrator: true }], gaps: [] },
  ],
  [
    "Keycloak: a group of another group is not the group",
    { fullToken: true },
    { groups: [ENG] },
    { ...ANN, groups: ["/guests/eng", "//eng"] },
    { memberships: [] },
  ],
  [
    "Keycloak: roles within a claim",
    { fullToken: true },
    { groups: [ENG], groupsClaim: "realm_access.roles" },
    { ...ANN, realm_access: { roles: ["eng", "offline_access"] } },
    { memberships: [{ team: FIRST_TEAM, administrator: false }] },
  ],
  [
    "Entra: an address without email_verified, of a tenant that the operator trusts",
    { fullToken: true },
    { domains: ["acme.test"], trustsEmail: true },
    { email: "ann@acme.test", name: "Ann" },
    { memberships: [MEMBER], email: "ann@acme.test", gaps: [] },
  ],
  [
    "Entra: an address without email_verified",
    { fullToken: true },
    { domains: ["acme.test"] },
    { email: "ann@acme.test", name: "Ann" },
    { memberships: [], gaps: ["The issuer sends no email_verified."] },
  ],
  [
    "Entra: more than 200 groups",
    { fullToken: true },
    { groups: [ENG] },
    { ...ANN, ...MANY },
    {
      memberships: [],
      gaps: ["The issuer left the groups out (_claim_names), because there are too many."],
    },
  ],
  [
    "Okta: groups in the user info",
    {},
    { groups: [ENG] },
    { ...ANN, groups: ["Everyone", "eng"] },
    { memberships: [{ team: FIRST_TEAM, administrator: false }] },
  ],
  [
    "Google: verified addresses and no groups",
    { fullToken: true },
    { domains: ["acme.test"] },
    ANN,
    { memberships: [MEMBER], gaps: [] },
  ],
  [
    "Cognito: groups in a claim of its own",
    { fullToken: true },
    { groups: [ENG], groupsClaim: "cognito:groups" },
    { ...ANN, "cognito:groups": ["eng"] },
    { memberships: [{ team: FIRST_TEAM, administrator: false }] },
  ],
  [
    "an address that the issuer calls unverified, although the operator trusts it",
    { fullToken: true },
    { domains: ["acme.test"], trustsEmail: true },
    { ...ANN, email_verified: false },
    { memberships: [], gaps: ["The claim email_verified is not true."] },
  ],
  [
    "a user info that is a signed JWT",
    { signsUserInfo: true },
    { groups: [ENG] },
    { ...ANN, groups: ["eng"] },
    { memberships: [{ team: FIRST_TEAM, administrator: false }] },
  ],
];

describe("an issuer", () => {
  test.each(ISSUERS)("%s", async (_what, habits, rules, claims, expected) => {
    const provider = await start(habits, rules);

    const { email, ...account } = await signIn(provider, claims);

    expect({ email, ...account }).toMatchObject(expected);
  });

  test("an issuer that takes the secret only in a header is asked once", async () => {
    const provider = await start({ authMethod: "client_secret_basic" }, { groups: [ENG] });

    await signIn(provider, { ...ANN, groups: ["eng"] });

    expect(issuer.tokenRequests).toHaveLength(1);
  });
});

const BROKEN = [
  ["403", { status: 403 }],
  ["500", { status: 500 }],
  ["a page", { status: 200, body: "<html>" }],
] as const;

describe("a user info that answers", () => {
  test.each(BROKEN)("%s is not needed if the ID token has everything", async (_what, broken) => {
    const provider = await start({ fullToken: true }, { groups: [ENG] });
    issuer.brokenUserInfo = broken;

    const account = await signIn(provider, { ...ANN, groups: ["eng"] });

    expect(account).toMatchObject({ displayName: "Ann", memberships: [{ team: FIRST_TEAM }], gaps: [] });
  });

  test.each(BROKEN)("%s costs the name if the ID token has the groups only", async (_what, broken) => {
    const provider = await start({ fullToken: true }, { groups: [ENG] });
    issuer.brokenUserInfo = broken;

    const account = await signIn(provider, { groups: ["eng"] });

    expect(account.memberships).toMatchObject([{ team: FIRST_TEAM }]);
    expect(account.displayName).toBeUndefined();
    expect(account.gaps?.join()).toMatch(/user info of the issuer could not be read/);
  });

  test.each(BROKEN)("%s proves nothing if the groups are only there", async (_what, broken) => {
    const provider = await start({}, { groups: [ENG] });
    issuer.brokenUserInfo = broken;

    await expect(signIn(provider, { ...ANN, groups: ["eng"] })).rejects.toMatchObject({
      message: expect.stringContaining("its user info could not be read"),
    });
  });
});

describe("the doctor", () => {
  test("names the reason of the last sign-in that let nobody in, until one works", async () => {
    const provider = await start({ fullToken: true }, { domains: ["acme.test"] });
    const fresh = await provider.check?.run();
    await signIn(provider, { email: "eve@acme.test" });
    const refused = await provider.check?.run();
    issuer.brokenUserInfo = { status: 403 };
    await signIn(provider, {}).catch(() => undefined);
    const broken = await provider.check?.run();
    issuer.brokenUserInfo = undefined;
    await signIn(provider, ANN);
    const works = await provider.check?.run();

    expect([fresh, refused, broken, works].map((finding) => finding?.status)).toEqual([
      "ok",
      "warn",
      "warn",
      "ok",
    ]);
    expect(refused?.message).toContain("The issuer sends no email_verified.");
    expect(broken?.message).toContain("user info of the issuer could not be read");
    expect(JSON.stringify([refused, broken])).not.toContain("eve@");
  });

  test("does not count a person who cancels", async () => {
    const provider = await start({}, {});
    const callback = new URL(REDIRECT);
    const answer = { error: "access_denied", state: ATTEMPT.state, iss: issuer.url };
    callback.search = new URLSearchParams(answer).toString();

    await expect(provider.prove(callback, ATTEMPT)).rejects.toMatchObject({
      code: "authentication_required",
    });

    expect((await provider.check?.run())?.status).toBe("ok");
  });
});
