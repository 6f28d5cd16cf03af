import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { readConfig } from "../../../src/config/config.ts";
import { variableDocs } from "../../../src/config/variable-docs.ts";
import { variables } from "../../../src/config/variables.ts";

const SECRET = "secret-word";

const ADDRESSES = [
  "errand.example.com",
  "ftp://errand.example.com",
  `https://ann:${SECRET}@errand.example.com`,
  `https://${SECRET}@errand.example.com`,
  `https://errand.example.com?key=${SECRET}`,
  `https://errand.example.com/#key=${SECRET}`,
  "https://",
  "https://a b",
];
const NUMBERS = [
  "many",
  "0x50",
  "1e3",
  "-1",
  "+1",
  " 5",
  "5 ",
  "1,5",
  "1_000",
  "١",
  "Infinity",
  "99999999999",
];
const WORDS = ["Any", "all,api", "yes", "-1", " "].slice(0, 4);
const KEYS = [`${SECRET} with blanks`, `${SECRET}\nlines`, `${SECRET}é`];
const JSONS = ["{", "[]x", "1", '"text"', '{"a": 1}', '[{"a": 1}]'];

/** Illegal values of each variable. An empty list: every text is legal. */
const ILLEGAL: Readonly<Record<string, readonly string[]>> = {
  ERRAND_HOST: ["999.1.1.1", "http://0.0.0.0", "0.0.0.0:8787", "[::]", "0x7f.1", "a_b", "a b", "-h"],
  ERRAND_PUBLIC_URL: [...ADDRESSES, "https://errand.example.com/errand"],
  ERRAND_DATA_DIR: [],
  DATABASE_URL: [`mysql://ann:${SECRET}@db/errand`, "postgresql://", `db:${SECRET}`, "postgresql:"],
  DATABASE_DIRECT_URL: [`mysql://ann:${SECRET}@db/errand`, "postgresql://", `db:${SECRET}`, "postgresql:"],
  ERRAND_BLOB_URL: [
    "bucket/prefix",
    "https://bucket.s3.amazonaws.com",
    "s3://",
    "s3://A_bucket",
    `s3://key:${SECRET}@bucket`,
    `s3://bucket?secret=${SECRET}`,
    "s3://bucket?endpoint=minio:9000",
  ],
  AWS_ACCESS_KEY_ID: [],
  AWS_SECRET_ACCESS_KEY: [],
  AWS_SESSION_TOKEN: [],
  ERRAND_ADMIN_KEY: [...KEYS.slice(1), SECRET, `${SECRET} with a blank at its end `],
  ERRAND_SECRET_KEY: [SECRET],
  ERRAND_OLD_SECRET_KEYS: [SECRET, `${"k".repeat(32)},${SECRET}`, ","],
  ERRAND_EGRESS_RANGES: ["203.0.113.0", "203.0.113.0/33", "203.0.113.0/24,", "example.com", "::1/129"],
  ERRAND_OIDC_ISSUER: [...ADDRESSES, "http://login.example.com"],
  ERRAND_OIDC_CLIENT_ID: [],
  ERRAND_OIDC_CLIENT_SECRET: [],
  ERRAND_OIDC_NAME: ["x".repeat(61)],
  ERRAND_OIDC_SCOPES: ["email profile", "openid,email"],
  ERRAND_OIDC_DOMAINS: ["example", "example.com;example.org", "ann@example.com"],
  ERRAND_OIDC_TRUST_EMAIL: WORDS,
  ERRAND_OIDC_GROUPS_CLAIM: [],
  ERRAND_OIDC_GROUPS: JSONS,
  ERRAND_SIGN_IN_HELP: ["x".repeat(301)],
  ERRAND_MODEL: ["x".repeat(201)],
  ERRAND_AGENT_COMMAND: ["[1]", '["a", 1]', "[]", '"unfinished'],
  ERRAND_AGENT_READABLE: ["opt/agent", "/opt:lib"],
  ANTHROPIC_API_KEY: KEYS,
  ANTHROPIC_BASE_URL: ADDRESSES,
  OPENAI_API_KEY: KEYS,
  OPENAI_BASE_URL: ADDRESSES,
  GEMINI_API_KEY: KEYS,
  GOOGLE_GEMINI_BASE_URL: ADDRESSES,
  ERRAND_MODEL_PRICES: JSONS.filter((text) => text !== "[]"),
  ERRAND_DOCKER: [],
  ERRAND_DOCKER_IMAGE: ["-v", "--privileged", "Debian", "https://docker.io/debian", "a b", "debian:", "a\nb"],
  ERRAND_IMAGE_REGISTRIES: [",", "ghcr", "https://ghcr.io", "-v", "ghcr.io,docker", "a b.io"],
  ERRAND_WORKER_HOST: ["x".repeat(101)],
  ERRAND_TRUST_PROXY: NUMBERS,
  ERRAND_ALLOWED_ORIGINS: [
    ...["*", "null", "board.example.com", "https://board.example.com/", "https://board.example.com/app"],
    ...["https://a.example https://b.example", "https://ann@board.example.com", "ftp://board.example.com"],
  ],
  ERRAND_TLS_CERT: [],
  ERRAND_TLS_KEY: [],
  ERRAND_GIT_URL: ADDRESSES,
  ERRAND_GIT_WAIT_MINUTES: NUMBERS,
  ERRAND_WEBHOOK_ALLOW: [
    "10.0.0.256",
    "10.0.0.0/33",
    "https://a.example",
    "a b",
    "*.example",
    "ok.example,-",
  ],
  ERRAND_AGENT_ALLOW: ["10.0.0.256", `https://ann:${SECRET}@a.example`, "2130706433"],
  SLACK_SIGNING_SECRET: [],
  SLACK_APP_TOKEN: [`xoxb-${SECRET}`],
  SLACK_BOT_TOKEN: [`xapp-${SECRET}`],
  SLACK_API_URL: ADDRESSES,
  SLACK_CLIENT_ID: [],
  SLACK_CLIENT_SECRET: [],
  GITHUB_APP_ID: ["Iv1.abc", "0x50", "-1"],
  GITHUB_APP_PRIVATE_KEY: [SECRET, `-----BEGIN RSA PRIVATE KEY-----\n${SECRET}`],
  GITHUB_WEBHOOK_SECRET: [`${SECRET},,two`],
  GITHUB_API_URL: [...ADDRESSES, "https://ghe.example.com"],
  GITHUB_BOT_NAME: ["no name", "-a", "@"],
  GITHUB_LABEL: ["x".repeat(51)],
  GITHUB_CLIENT_ID: [],
  GITHUB_CLIENT_SECRET: [],
};

/** What the variables of these tests need beside them. */
const COMPLETE = {
  ERRAND_SECRET_KEY: "k".repeat(32),
  SLACK_BOT_TOKEN: "xoxb-1",
  SLACK_SIGNING_SECRET: "one",
  GITHUB_APP_ID: "1",
  GITHUB_WEBHOOK_SECRET: "one",
  GITHUB_APP_PRIVATE_KEY: generateKeyPairSync("rsa", { modulusLength: 2_048 })
    .privateKey.export({ type: "pkcs8", format: "pem" })
    .toString(),
};

const schemas: Readonly<Record<string, (typeof variables.shape)[keyof typeof variables.shape]>> =
  variables.shape;

/** Numbers and choices are recognised by their schemas, so that a new one needs no entry. */
function illegalValuesOf(name: string): readonly string[] | undefined {
  const problem = schemas[name]?.safeParse("?").error?.issues[0];
  if (problem?.code === "invalid_value") {
    return WORDS;
  }
  return / number /.test(problem?.message ?? "") ? NUMBERS : ILLEGAL[name];
}

function problemsOf(environment: Readonly<Record<string, string>>): readonly string[] {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    return error instanceof Error && error.name === "StartupError"
      ? error.message.split("\n")
      : [`not a StartupError: ${error}`];
  }
}

/** A line of a problem: the variable, what it must be, and what it is unless it may hold a secret. */
function isHelpful(line: string, name: string, value: string): boolean {
  const isSecret = variableDocs[name]?.secret === true || /[@]|[?#].*=/s.test(value);
  const shown = value.length > 80 ? `${value.slice(0, 80)}…` : value;
  const isList = /_(ALLOW|REGISTRIES)$/.test(name);
  const end = isList
    ? /, not ".*"$/
    : { test: (text: string) => text.endsWith(`, not ${JSON.stringify(shown)}`) };
  return (
    line.startsWith(`${name}: `) &&
    /must |at .+: /.test(line) &&
    !/Invalid (URL|option)/.test(line) &&
    !line.includes(SECRET) &&
    (isSecret ? !line.includes(", not ") : end.test(line))
  );
}

test("every variable has illegal values here, or takes every text", () => {
  expect(Object.keys(variableDocs).filter((name) => illegalValuesOf(name) === undefined)).toEqual([]);
});

const CASES = Object.keys(variableDocs).flatMap((name) =>
  (illegalValuesOf(name) ?? []).map((value) => ({ name, value })),
);

describe("an illegal value is one line with the form and, unless it is secret, the value", () => {
  test.each(CASES)("$name=$value", ({ name, value }) => {
    const problems = problemsOf({ ...COMPLETE, [name]: value });

    expect([problems, problems.map((line) => isHelpful(line, name, value))]).toEqual([problems, [true]]);
  });
});

test("illegal values of all variables are reported at once, one line each", () => {
  const wrong = new Map(CASES.map(({ name, value }) => [name, value]));

  const problems = problemsOf({ ...COMPLETE, ...Object.fromEntries(wrong) });

  const linesOf = (name: string) => problems.filter((line) => line.startsWith(`${name}: `)).length;
  expect(Array.from(wrong.keys()).filter((name) => linesOf(name) !== 1)).toEqual([]);
  expect(problems.length).toBe(wrong.size);
});
