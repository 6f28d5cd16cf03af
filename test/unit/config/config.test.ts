import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type Config, readConfig, withStoredSettings } from "../../../src/config/config.ts";
import { createRedactor } from "../../../src/secrets/redaction.ts";

const SHARED = {
  DATABASE_URL: "postgresql://errand:pass-of-the-database@db/errand",
  ERRAND_SECRET_KEY: "s".repeat(32),
};

describe("a process beside others", () => {
  test.each(["api", "worker"])("a process with the role %s needs the public address for links", (role) => {
    const env = { ...SHARED, ERRAND_ROLE: role };

    expect(() => readConfig(env)).toThrow(/^ERRAND_ROLE=\w+ needs ERRAND_PUBLIC_URL: [^\n]+$/);
    expect(readConfig({ ...env, ERRAND_PUBLIC_URL: "https://e.example/" }).publicUrl).toBe(
      "https://e.example",
    );
  });

  test("one error reports everything that a process beside others lacks", () => {
    expect(() => readConfig({ ERRAND_ROLE: "worker" })).toThrow(
      /^ERRAND_ROLE=worker needs DATABASE_URL: [^\n]+, and ERRAND_PUBLIC_URL: [^\n]+$/,
    );
  });
});

describe("a pooler", () => {
  const pooled = { ...SHARED, DATABASE_DIRECT_URL: "postgresql://errand:pass-of-the-server@db/errand" };

  test("beside a direct address, DATABASE_URL is that of a pooler", () => {
    const { databaseUrl, poolerUrl } = readConfig(pooled);
    expect({ databaseUrl, poolerUrl }).toEqual({
      databaseUrl: pooled.DATABASE_DIRECT_URL,
      poolerUrl: pooled.DATABASE_URL,
    });
    expect(readConfig(SHARED)).toMatchObject({ databaseUrl: SHARED.DATABASE_URL, poolerUrl: undefined });
  });

  test("the passwords of both addresses are secrets", () => {
    const { secrets } = readConfig(pooled);
    expect(secrets).toEqual(expect.arrayContaining(["pass-of-the-database", "pass-of-the-server"]));
  });

  test("a direct address alone is refused", () => {
    expect(() => readConfig({ DATABASE_DIRECT_URL: pooled.DATABASE_DIRECT_URL })).toThrow(
      /^DATABASE_DIRECT_URL needs DATABASE_URL/,
    );
  });
});

test("a single process needs nothing", () => {
  expect(readConfig({}).publicUrl).toBeUndefined();
});

describe("the address of repositories", () => {
  test("the address of repositories has no slash at its end", () => {
    expect(readConfig({}).gitUrl).toBe("https://github.com");
    expect(readConfig({ ERRAND_GIT_URL: "https://git.example.com/all/" }).gitUrl).toBe(
      "https://git.example.com/all",
    );
    expect(readConfig({ ERRAND_GIT_URL: "file:///srv/git" }).gitUrl).toBe("file:///srv/git");
  });

  test.each(["git.example.com", "ssh://git@example.com", "ext::sh", "https://name:key@example.com"])(
    "the address of repositories %j is refused and not shown",
    (value) => {
      expect(() => readConfig({ ERRAND_GIT_URL: value })).toThrow(/^ERRAND_GIT_URL: (?!.*name:key)/);
    },
  );
});

describe("additional targets of webhooks", () => {
  test("webhooks have no additional targets by default", () => {
    expect(readConfig({}).webhookAllow).toEqual({ networks: [], hosts: new Set() });
    const { hosts, networks } = readConfig({
      ERRAND_WEBHOOK_ALLOW: "10.1.0.0/16, board.internal",
    }).webhookAllow;
    expect([networks.length, ...hosts]).toEqual([1, "board.internal"]);
  });

  test("an invalid additional target of webhooks is refused with the reason", () => {
    expect(() => readConfig({ ERRAND_WEBHOOK_ALLOW: "board.internal,10.1.0.0/40" })).toThrow(
      /^ERRAND_WEBHOOK_ALLOW: must contain addresses, .*, not "10\.1\.0\.0\/40"$/,
    );
  });
});

describe("the trusted proxies", () => {
  const OUTSIDE = { ERRAND_PUBLIC_URL: "https://errand.example.com" };

  test.each([
    [undefined, false],
    ["", false],
    ["0", false],
    ["false", false],
    ["1", 1],
    ["true", 1],
    ["3", 3],
    ["10", 10],
  ])("the trusted proxies %j are parsed as %j", (value, trustProxy) => {
    expect(readConfig({ ...OUTSIDE, ERRAND_TRUST_PROXY: value }).trustProxy).toBe(trustProxy);
  });

  test.each(["-1", "11", "1.5", "yes", "10.0.0.0/8"])("the trusted proxies %j are refused", (value) => {
    expect(() => readConfig({ ERRAND_TRUST_PROXY: value })).toThrow(/^ERRAND_TRUST_PROXY: /);
  });

  test.each([
    ["0", false],
    ["1", true],
  ])("listening everywhere is allowed by %s: %j", (value, isAllowed) => {
    const read = () => readConfig({ ...OUTSIDE, ERRAND_HOST: "0.0.0.0", ERRAND_TRUST_PROXY: value });

    if (isAllowed) {
      expect(read().host).toBe("0.0.0.0");
    } else {
      expect(read).toThrow(/would send API keys unencrypted/);
    }
  });

  test("trusted proxies require the public address, for links and for HTTPS-only cookies", () => {
    expect(() => readConfig({ ERRAND_TRUST_PROXY: "1" })).toThrow(
      /^ERRAND_TRUST_PROXY needs ERRAND_PUBLIC_URL/,
    );
    const plain = { ERRAND_TRUST_PROXY: "1", ERRAND_PUBLIC_URL: "http://errand.example.com" };
    expect(() => readConfig(plain)).toThrow(/^ERRAND_TRUST_PROXY needs ERRAND_PUBLIC_URL/);
    expect(readConfig({ ...plain, ERRAND_ALLOW_HTTP: "1" }).trustProxy).toBe(1);
    expect(readConfig({ ERRAND_TRUST_PROXY: "0" }).publicUrl).toBeUndefined();
  });
});

describe("earlier secret keys", () => {
  const [one, two] = ["1".repeat(32), "2".repeat(32)];

  test("earlier secret keys are separated by commas, and none of them is shown", () => {
    const { oldSecretKeys, secrets } = readConfig({ ERRAND_OLD_SECRET_KEYS: `${one}, ${two}` });

    expect(oldSecretKeys).toEqual([one, two]);
    expect(secrets).toEqual(expect.arrayContaining([one, two]));
    expect(readConfig({}).oldSecretKeys).toEqual([]);
  });

  test.each([`${one},`, `${one},short`])("the earlier secret keys %j are refused", (value) => {
    expect(() => readConfig({ ERRAND_OLD_SECRET_KEYS: value })).toThrow(/^ERRAND_OLD_SECRET_KEYS/);
  });
});

describe("the values that are never shown", () => {
  test("variables with the name of a secret and the database password are never shown", () => {
    const { secrets } = readConfig({ ...SHARED, SOME_TOKEN: "of a program", SOME_NAME: "no secret" });

    expect(secrets.toSorted()).toEqual(
      [SHARED.ERRAND_SECRET_KEY, "of a program", "pass-of-the-database"].toSorted(),
    );
  });

  test("each of several secrets in one variable is never shown", () => {
    const { secrets } = readConfig({ SOME_SECRET: "the old one, the new one" });

    expect(secrets).toEqual(
      expect.arrayContaining(["the old one, the new one", "the old one", "the new one"]),
    );
  });

  test.each([
    ["with its line breaks", (pem: string) => pem],
    ["with line breaks written as \\n", (pem: string) => pem.replaceAll("\n", "\\n")],
  ])("a private key given %s, and each of its lines, is never shown", (_how, write) => {
    const { privateKey: pem } = generateKeyPairSync("rsa", {
      modulusLength: 2_048,
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type: "pkcs8", format: "pem" },
    });
    const lines = pem.split("\n").filter((line) => line.length > 40);

    const { secrets } = readConfig({ SOME_PRIVATE_KEY: write(pem) });
    const { redact } = createRedactor(secrets);

    expect(secrets).toEqual(expect.arrayContaining([pem.trim(), ...lines]));
    expect(redact(`a ${pem.trim()} b ${lines[3]} c`)).toBe("a [redacted] b [redacted] c");
  });
});

describe("the limits", () => {
  test("the default limits are the documented ones", () => {
    expect(readConfig({}).limits).toEqual({
      rateLimit: 600,
      streamsPerPrincipal: 20,
      bodyBytes: 30 * 1_024 ** 2,
      promptBytes: 256 * 1_024,
      titleLength: 300,
      basePromptBytes: 64 * 1_024,
      configBytes: 256 * 1_024,
      attachmentBytes: 10 * 1_024 ** 2,
      attachmentsBytes: 20 * 1_024 ** 2,
    });
  });

  test("the operator can change each limit, and 0 removes it", () => {
    const variables = {
      ERRAND_RATE_LIMIT: "0",
      ERRAND_MAX_STREAMS: "0",
      ERRAND_MAX_BODY_MIB: "1",
      ERRAND_MAX_PROMPT_KIB: "8",
      ERRAND_MAX_TITLE_LENGTH: "600",
      ERRAND_MAX_BASE_PROMPT_KIB: "4",
      ERRAND_MAX_CONFIG_KIB: "5",
      ERRAND_MAX_ATTACHMENT_MIB: "1",
      ERRAND_MAX_ATTACHMENTS_MIB: "2",
    };

    expect(readConfig(variables).limits).toEqual({
      rateLimit: 0,
      streamsPerPrincipal: 0,
      bodyBytes: 1_024 ** 2,
      promptBytes: 8_192,
      titleLength: 600,
      basePromptBytes: 4_096,
      configBytes: 5_120,
      attachmentBytes: 1_024 ** 2,
      attachmentsBytes: 2 * 1_024 ** 2,
    });
  });

  test("the operator can change the limits of a run's log", () => {
    expect(readConfig({}).work.logMib).toBe(256);
    expect(readConfig({ ERRAND_MAX_LOG_MIB: "1024" }).work.logMib).toBe(1_024);
  });

  test.each([
    ["ERRAND_RATE_LIMIT", "-1"],
    ["ERRAND_MAX_STREAMS", "many"],
    ["ERRAND_MAX_BODY_MIB", "0"],
    ["ERRAND_MAX_PROMPT_KIB", "1.5"],
    ["ERRAND_MAX_TITLE_LENGTH", "601"],
    ["ERRAND_MAX_BASE_PROMPT_KIB", "0"],
    ["ERRAND_MAX_CONFIG_KIB", "0"],
    ["ERRAND_MAX_ATTACHMENT_MIB", "257"],
    ["ERRAND_MAX_ATTACHMENTS_MIB", "0"],
    ["ERRAND_MAX_LOG_MIB", "0"],
  ])("the limit %s=%s is refused", (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(new RegExp(`^${name}: `));
  });
});

describe("models", () => {
  test("the available models are those with a key or an address", () => {
    expect(readConfig({}).models).toEqual({});
    expect(
      readConfig({
        ANTHROPIC_API_KEY: "key-a",
        OPENAI_BASE_URL: "http://127.0.0.1:11434/v1/",
        GEMINI_API_KEY: "key-g",
      }).models,
    ).toEqual({
      anthropic: { key: "key-a", baseUrl: "https://api.anthropic.com" },
      openai: { key: undefined, baseUrl: "http://127.0.0.1:11434/v1", isCompatible: true },
      gemini: { key: "key-g", baseUrl: "https://generativelanguage.googleapis.com" },
    });
    const baseUrl = "https://api.openai.com/v1";
    const openai = { key: "key-o", baseUrl, isCompatible: false };
    expect(readConfig({ OPENAI_API_KEY: "key-o" }).models).toEqual({ openai });
    expect(readConfig({ OPENAI_API_KEY: "key-o", OPENAI_BASE_URL: `${baseUrl}/` }).models).toEqual({
      openai,
    });
  });

  test("the keys of models are never shown", () => {
    const canary = "canary key with blanks";

    expect(readConfig({ OPENAI_API_KEY: "canary-key-1", GEMINI_API_KEY: "canary-key-2" }).secrets).toEqual([
      "canary-key-1",
      "canary-key-2",
    ]);
    expect(() => readConfig({ OPENAI_API_KEY: canary })).toThrow(
      /^OPENAI_API_KEY: must contain only ASCII letters, digits and signs, without spaces or line breaks$/,
    );
  });

  test.each(["ftp://x", "not a url", "https://name:canary@example.com", "https://example.com?key=canary"])(
    "models at %j are refused, and the address is not shown",
    (url) => {
      expect(() => readConfig({ ANTHROPIC_BASE_URL: url })).toThrow(/^ANTHROPIC_BASE_URL: (?!.*canary)/);
    },
  );

  test("models have the prices that the operator sets", () => {
    const prices = { "gpt-*": { input: 1.25, cached_input: 0.125, output: 10 } };

    expect(readConfig({ ERRAND_MODEL_PRICES: JSON.stringify(prices) }).modelPrices).toEqual(prices);
  });

  test.each([
    "{",
    "[]",
    '{"a": 1}',
    '{"a": {"input": 1}}',
    '{"a": {"input": -1, "output": 1}}',
    '{"a": {"input": 1, "output": 1, "else": 1}}',
  ])("prices of models such as %s are refused", (text) => {
    expect(() => readConfig({ ERRAND_MODEL_PRICES: text })).toThrow(/^ERRAND_MODEL_PRICES/);
  });
});

test("the targets allowed to agents and those allowed to webhooks are separate", () => {
  const config = readConfig({ ERRAND_AGENT_ALLOW: "tools.internal", ERRAND_WEBHOOK_ALLOW: "board.internal" });

  expect([...config.agentAllow.hosts, ...config.webhookAllow.hosts]).toEqual([
    "tools.internal",
    "board.internal",
  ]);
});

describe("stored settings of adapters", () => {
  const SLACK = { SLACK_SIGNING_SECRET: "stored", SLACK_BOT_TOKEN: "xoxb-stored" };
  const on = ({ adapters }: Config) => adapters.flatMap(({ create, name }) => (create ? [name] : []));

  test("they switch an adapter on, alone and together with variables", () => {
    expect(on(withStoredSettings(readConfig({}), SLACK))).toEqual(["slack"]);
    const { SLACK_BOT_TOKEN, ...others } = SLACK;
    expect(on(withStoredSettings(readConfig(others), { SLACK_BOT_TOKEN }))).toEqual(["slack"]);
  });

  test("a variable wins over the setting of the same name", () => {
    const variables = { GITHUB_API_URL: "https://ghe.example/api/v3" };
    const stored = { GITHUB_API_URL: "https://other.example/api/v3" };

    expect(withStoredSettings(readConfig({}), stored).pullRequestApiUrl).toBe(stored.GITHUB_API_URL);
    expect(withStoredSettings(readConfig(variables), stored).pullRequestApiUrl).toBe(
      variables.GITHUB_API_URL,
    );
  });

  test("settings that do not fit leave their adapter off with a problem, and variables alone refuse the start", () => {
    const config = withStoredSettings(readConfig({}), { SLACK_BOT_TOKEN: "xoxb-stored" });

    expect(on(config)).toEqual([]);
    expect(config.adapters[0]?.problems).toEqual([expect.stringMatching(/^SLACK_SIGNING_SECRET is missing/)]);
    const partial = readConfig({ SLACK_BOT_TOKEN: "xoxb-1" });
    expect(() => withStoredSettings(partial, {})).toThrow(/^SLACK_SIGNING_SECRET is missing/);
  });
});

describe("reading the environment", () => {
  test.each(["", " ", "\t\n"])("every variable counts %j as not set", (blank) => {
    const env = { ERRAND_PORT: blank, ERRAND_ADMIN_KEY: blank, SLACK_BOT_TOKEN: blank, GITHUB_APP_ID: blank };

    // Adapters have functions, which are never equal.
    const withoutFunctions = (config: Config) => JSON.stringify(config);
    expect(withoutFunctions(readConfig(env))).toBe(withoutFunctions(readConfig({})));
  });

  test("one error reports invalid values, conflicts and the problems of adapters", () => {
    const env = {
      ERRAND_PORT: "many",
      ERRAND_TLS_CERT: "cert.pem",
      ERRAND_AGENT: "custom",
      SLACK_BOT_TOKEN: "xoxb-1",
    };

    expect(() => readConfig(env)).toThrow(
      /^ERRAND_PORT: [^\n]+\n(?=[\s\S]*ERRAND_AGENT_COMMAND)(?=[\s\S]*ERRAND_TLS_KEY)(?=[\s\S]*SLACK_SIGNING_SECRET)/,
    );
  });

  test.each([
    ["ERRAND_PORT", "abc", "must be a whole number from 0 to 65535"],
    ["ERRAND_PORT", "1.5", "must be a whole number from 0 to 65535"],
    ["ERRAND_RATE_LIMIT", "-1", "must be a whole number from 0 to 1000000"],
    ["ERRAND_SANDBOX_CPUS", "two", "must be a number from 0.1 to 1024"],
    ["ERRAND_TURN_MINUTES", "0", "must be a number above 0 and at most 1380"],
  ])("%s=%s is answered with the range and the value", (name, value, range) => {
    expect(() => readConfig({ [name]: value })).toThrow(`${name}: ${range}, not "${value}"`);
  });

  test("an invalid value is reported once, without the conflicts that follow from it", () => {
    const env = { ERRAND_TRUST_PROXY: "1", ERRAND_PUBLIC_URL: "nowhere" };

    expect(() => readConfig(env)).toThrow(/^ERRAND_PUBLIC_URL: [^\n]+$/);
  });
});
