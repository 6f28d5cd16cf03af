import { parseEnv } from "node:util";
import { expect, test } from "vitest";
import { configurationDocs } from "../../../scripts/configuration-docs.ts";
import { readConfig } from "../../../src/config/config.ts";

function problemsOf(environment: Record<string, string>): string {
  try {
    readConfig(environment);
    return "";
  } catch (error) {
    return error instanceof Error && error.name === "StartupError"
      ? error.message
      : `not a StartupError: ${error}`;
  }
}

const KEY = "k".repeat(32);

test.each([
  ["ERRAND_HOST", "999.1.1.1", "999.1.1.1"],
  ["ERRAND_HOST", "http://0.0.0.0", "http://0.0.0.0"],
  ["ERRAND_HOST", "0.0.0.0:8787", "0.0.0.0:8787"],
  ["ERRAND_HOST", "[::]", "[::]"],
  ["ERRAND_HOST", "0x7f.1", "0x7f.1"],
  ["ERRAND_HOST", "a_b", "a_b"],
  ["ERRAND_PUBLIC_URL", "errand.example.com", "errand.example.com"],
  ["ERRAND_PUBLIC_URL", "ftp://errand.example.com", "ftp://errand.example.com"],
  ["ERRAND_PUBLIC_URL", "https://errand.example.com/errand", "/errand"],
  ["ERRAND_PUBLIC_URL", "https://errand.example.com/?a=b", "query"],
  ["ERRAND_PUBLIC_URL", "https://errand.example.com#", "#"],
  ["ERRAND_PUBLIC_URL", "https://ann:secret-word@errand.example.com", "without a user name"],
  ["ERRAND_PUBLIC_URL", "ann:secret-word@errand", "must be an address"],
  ["DATABASE_URL", "postgresql://", "postgresql://USER:PASSWORD@HOST"],
  ["DATABASE_URL", "db.example.com:secret-word", "postgresql://USER:PASSWORD@HOST"],
  ["DATABASE_URL", "mysql://ann:secret-word@db/errand", "postgresql://USER:PASSWORD@HOST"],
  ["ERRAND_OIDC_ISSUER", "login.example.com", "login.example.com"],
  ["ERRAND_OIDC_ISSUER", "http://login.example.com", "http://login.example.com"],
  ["ERRAND_OIDC_SCOPES", "email profile", "openid"],
  ["GITHUB_API_URL", "https://ghe.example.com", "/api/v3"],
  ["GITHUB_API_URL", "ghe.example.com", "/api/v3"],
  ["ERRAND_PORT", "0x50", "0x50"],
  ["ERRAND_PORT", "8e3", "8e3"],
  ["ERRAND_PORT", " 80", " 80"],
  ["ERRAND_SANDBOX_CPUS", "0b1", "0b1"],
])("%s=%s is reported with its value or its form", (name, value, shown) => {
  const problems = problemsOf({ [name]: value, ERRAND_SECRET_KEY: KEY });

  expect(problems).toMatch(new RegExp(`^${name}`, "m"));
  expect(problems).toContain(shown);
  expect(problems).not.toContain("secret-word");
});

test.each([
  ["ERRAND_HOST", "::"],
  ["ERRAND_HOST", "127.0.0.1"],
  ["ERRAND_HOST", "host-1.example.com"],
  ["ERRAND_PUBLIC_URL", "https://errand.example.com/"],
  ["ERRAND_PUBLIC_URL", "http://[::1]:8787"],
  ["DATABASE_URL", "postgresql:///errand?host=/var/run/postgresql"],
  ["DATABASE_URL", "postgres://db"],
  ["GITHUB_API_URL", "https://api.github.com"],
  ["GITHUB_API_URL", "https://api.acme.ghe.com"],
  ["GITHUB_API_URL", "https://ghe.example.com/api/v3/"],
  ["SLACK_API_URL", "https://slack.com/api/"],
])("%s=%s is taken", (name, value) => {
  // An address without its system switches no adapter on.
  expect(problemsOf({ [name]: value, ERRAND_SECRET_KEY: KEY, ERRAND_ALLOW_HTTP: "1" })).toBe("");
});

test("problems of all kinds are reported at once", () => {
  const names = ["ERRAND_HOST", "ERRAND_OIDC_ISSUER", "ERRAND_PUBLIC_URL", "DATABASE_URL", "ERRAND_PORT"];

  const problems = problemsOf(Object.fromEntries(names.map((name) => [name, "?"])));

  expect(names.filter((name) => !problems.includes(`${name}: `))).toEqual([]);
});

test("the template of variables can be read with all its defaults, and switches no adapter on", () => {
  const template = configurationDocs()[".env.example"] ?? "";

  const values = parseEnv(template.replace(/^# (?=[A-Z_]+=)/gm, ""));

  expect(problemsOf(values as Record<string, string>)).toBe("");
  expect(values.ERRAND_OIDC_SCOPES).toBe("openid email profile");
  expect(readConfig(values).adapters.map(({ create }) => create)).toEqual([undefined, undefined]);
});
