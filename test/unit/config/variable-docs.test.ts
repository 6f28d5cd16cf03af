import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { githubVariableDocs, readGithubConfig } from "../../../src/adapters/github/config.ts";
import { readSlackConfig, slackVariableDocs } from "../../../src/adapters/slack/config.ts";
import type { VariableDoc } from "../../../src/config/variable-doc.ts";
import { variableDocs } from "../../../src/config/variable-docs.ts";
import { variables } from "../../../src/config/variables.ts";

/**
 * Returns the documented default of each variable in `names`, without those whose default is words in parentheses.
 */
function documentedDefaults(names: readonly string[]): readonly [name: string, value: string][] {
  return names.flatMap((name): [string, string][] => {
    const value = variableDocs[name]?.default ?? "";
    return value.startsWith("(") ? [] : [[name, value]];
  });
}

function isEmpty(value: unknown): boolean {
  if (value === undefined) {
    return true;
  }
  if (value instanceof Set) {
    return value.size === 0;
  }
  return typeof value === "object" && value !== null && Object.values(value).every(isEmpty);
}

const shape: Readonly<Record<string, { parse(value: unknown): unknown }>> = variables.shape;

describe("the documented default of a variable", () => {
  test.each(documentedDefaults(Object.keys(shape)))(
    "the documented default %s=%s is that of its schema",
    (name, value) => {
      expect(shape[name]?.parse(value)).toEqual(shape[name]?.parse(undefined));
    },
  );

  test("a documented default is words in parentheses only if the schema has no value for it", () => {
    const documented = new Set(documentedDefaults(Object.keys(shape)).map(([name]) => name));
    const others = Object.keys(shape).filter((name) => !documented.has(name));

    expect(others.filter((name) => !isEmpty(shape[name]?.parse(undefined)))).toEqual([]);
  });

  test("the documented defaults of Slack are those of its schema", () => {
    const required = { SLACK_SIGNING_SECRET: "secret", SLACK_BOT_TOKEN: "xoxb-1" };
    const documented = Object.fromEntries(documentedDefaults(Object.keys(slackVariableDocs)));

    expect(Object.keys(documented)).toEqual(["SLACK_API_URL"]);
    expect(readSlackConfig({ ...required, ...documented })).toEqual(readSlackConfig(required));
  });

  test("the documented defaults of GitHub are those of its schema", () => {
    const { privateKey } = generateKeyPairSync("ec", {
      namedCurve: "P-256",
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type: "pkcs8", format: "pem" },
    });
    const required = {
      GITHUB_APP_ID: "1",
      GITHUB_APP_PRIVATE_KEY: privateKey,
      GITHUB_WEBHOOK_SECRET: "secret",
    };
    const documented = Object.fromEntries(documentedDefaults(Object.keys(githubVariableDocs)));

    expect(Object.keys(documented)).toEqual(["GITHUB_API_URL", "GITHUB_LABEL"]);
    expect(readGithubConfig({ ...required, ...documented })).toEqual(readGithubConfig(required));
  });
});

test("Docker Compose does not pass exactly the variables that docs/configuration.md names", () => {
  const isKeptBack = (name: string) =>
    /^(ERRAND_(TLS_(CERT|KEY)|DOCKER(_IMAGE)?|HOST|PORT|DATA_DIR)|DATABASE_DIRECT_URL)$/.test(name);
  const entries = Object.entries<VariableDoc>(variableDocs);

  expect(entries.filter(([, { compose }]) => compose === "no").map(([name]) => name)).toEqual(
    entries.map(([name]) => name).filter(isKeptBack),
  );
  expect(entries.filter(([, { compose }]) => compose === "set").map(([name]) => name)).toEqual([
    "DATABASE_URL",
    "ERRAND_ROLE",
    "ERRAND_ALLOW_HTTP",
  ]);
});
