import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { readConfig } from "../../src/config.ts";
import { createRedactor } from "../../src/secrets.ts";

const SHARED = {
  DATABASE_URL: "postgresql://errand:pass-of-the-database@db/errand",
  ERRAND_SECRET_KEY: "s".repeat(32),
};

describe("a process that is not alone", () => {
  test.each(["api", "worker"])("%s needs the address for links", (role) => {
    const env = { ...SHARED, ERRAND_ROLE: role };

    expect(() => readConfig(env)).toThrow(/^ERRAND_ROLE=\w+ needs ERRAND_PUBLIC_URL: [^\n]+$/);
    expect(readConfig({ ...env, ERRAND_PUBLIC_URL: "https://e.example/" }).publicUrl).toBe(
      "https://e.example",
    );
  });

  test("is told in one line of all it lacks", () => {
    expect(() => readConfig({ ERRAND_ROLE: "worker" })).toThrow(
      /^ERRAND_ROLE=worker needs DATABASE_URL: [^\n]+, and ERRAND_PUBLIC_URL: [^\n]+$/,
    );
  });
});

test("one that is alone needs nothing", () => {
  expect(readConfig({}).publicUrl).toBeUndefined();
});

describe("the trusted proxies", () => {
  test.each([
    [undefined, false],
    ["", false],
    ["0", false],
    ["false", false],
    ["1", 1],
    ["true", 1],
    ["3", 3],
    ["10", 10],
  ])("%j are %j", (value, trustProxy) => {
    expect(readConfig({ ERRAND_TRUST_PROXY: value }).trustProxy).toBe(trustProxy);
  });

  test.each(["-1", "11", "1.5", "yes", "10.0.0.0/8"])("%j is refused", (value) => {
    expect(() => readConfig({ ERRAND_TRUST_PROXY: value })).toThrow(/^ERRAND_TRUST_PROXY: /);
  });

  test.each([
    ["0", false],
    ["1", true],
  ])("by %s listening everywhere is allowed: %j", (value, isAllowed) => {
    const read = () => readConfig({ ERRAND_HOST: "0.0.0.0", ERRAND_TRUST_PROXY: value });

    if (isAllowed) expect(read().host).toBe("0.0.0.0");
    else expect(read).toThrow(/would serve keys in the clear/);
  });
});

describe("the values that must never be shown", () => {
  test("are those of variables with a secret's name, and the database's password", () => {
    const { secrets } = readConfig({ ...SHARED, SOME_TOKEN: "of a program", SOME_NAME: "no secret" });

    expect(secrets.toSorted()).toEqual(
      [SHARED.ERRAND_SECRET_KEY, "of a program", "pass-of-the-database"].toSorted(),
    );
  });

  test("hold each of several secrets", () => {
    const { secrets } = readConfig({ SOME_SECRET: "the old one, the new one" });

    expect(secrets).toEqual(
      expect.arrayContaining(["the old one, the new one", "the old one", "the new one"]),
    );
  });

  test.each([
    ["with its line breaks", (pem: string) => pem],
    ["with line breaks written as \\n", (pem: string) => pem.replaceAll("\n", "\\n")],
  ])("hold a private key given %s, and each of its lines", (_how, write) => {
    const { privateKey: pem } = generateKeyPairSync("rsa", {
      modulusLength: 2_048,
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type: "pkcs8", format: "pem" },
    });
    const lines = pem.split("\n").filter((line) => line.length > 40);

    const { secrets } = readConfig({ SOME_PRIVATE_KEY: write(pem) });
    const redact = createRedactor(secrets);

    expect(secrets).toEqual(expect.arrayContaining([pem.trim(), ...lines]));
    expect(redact(`a ${pem.trim()} b ${lines[3]} c`)).toBe("a [redacted] b [redacted] c");
  });
});
