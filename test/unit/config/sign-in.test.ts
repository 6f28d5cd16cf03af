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
  "https://login.microsoftonline.com/common/v2.0",
  "https://login.microsoftonline.com/organizations/v2.0",
  "https://login.microsoftonline.com/consumers/v2.0",
  "https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0",
  "https://LOGIN.microsoftonline.com/common",
  "https://accounts.google.com",
  "https://gitlab.com",
])("unverified addresses of %s, where anyone has an account, are never trusted", (issuer) => {
  const values = { ...OIDC, ERRAND_OIDC_ISSUER: issuer };

  expect(readConfig(values).signIn.oidc?.trustsEmail).toBe(false);
  expect(() => readConfig({ ...values, ERRAND_OIDC_TRUST_EMAIL: "true" })).toThrow(/many organizations/);
});

test.each([
  "https://login.microsoftonline.com/0195b2a4-5c1f-4d90-a4c3-2e6f8b1d0a7c/v2.0",
  "https://login.acme.test/common",
])("unverified addresses of %s are trusted if the operator says so", (issuer) => {
  const values = { ...OIDC, ERRAND_OIDC_ISSUER: issuer, ERRAND_OIDC_TRUST_EMAIL: "true" };

  expect(readConfig(values).signIn.oidc?.trustsEmail).toBe(true);
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
