import { expect, test } from "vitest";
import { readConfig } from "../../../src/config/config.ts";

const OIDC = {
  ERRAND_OIDC_ISSUER: "https://id.acme.test",
  ERRAND_OIDC_CLIENT_ID: "errand",
  ERRAND_OIDC_CLIENT_SECRET: "the secret of the client",
};

test("sign-in with OpenID Connect is off without an issuer", () => {
  expect(readConfig({}).signIn.oidc).toBeUndefined();
});

test("domains and groups of the issuer are read", () => {
  const groups = [
    { group: "leads", team: "Team", role: "administrator" },
    { group: "eng", team: "Platform" },
  ];
  const { oidc } = readConfig({
    ...OIDC,
    ERRAND_OIDC_DOMAINS: "Acme.test, acme.example",
    ERRAND_OIDC_GROUPS: JSON.stringify(groups),
  }).signIn;

  expect(oidc).toMatchObject({
    domains: ["acme.test", "acme.example"],
    groups: [groups[0], { ...groups[1], role: "member" }],
  });
});

test.each([
  ["an issuer without HTTPS", { ...OIDC, ERRAND_OIDC_ISSUER: "http://id.acme.test" }, /^ERRAND_OIDC_ISSUER/],
  [
    "a partial configuration",
    { ERRAND_OIDC_ISSUER: OIDC.ERRAND_OIDC_ISSUER },
    /ERRAND_OIDC_CLIENT_SECRET\.$/,
  ],
  ["an address as a domain", { ...OIDC, ERRAND_OIDC_DOMAINS: "ann@acme.test" }, /^ERRAND_OIDC_DOMAINS/],
  ["groups that are not JSON", { ...OIDC, ERRAND_OIDC_GROUPS: "eng" }, /^ERRAND_OIDC_GROUPS: must be JSON/],
  [
    "a role that does not exist",
    { ...OIDC, ERRAND_OIDC_GROUPS: '[{"group":"eng","team":"Team","role":"owner"}]' },
    /^ERRAND_OIDC_GROUPS/,
  ],
])("%s is refused, and the secret is not shown", (_what, env, words) => {
  expect(() => readConfig(env)).toThrow(words);
  expect(() => readConfig(env)).toThrow(/^(?!.*the secret of the client)/s);
});
