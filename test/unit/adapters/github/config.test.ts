import { createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { readGithubConfig } from "../../../../src/adapters/github/config.ts";

const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs1", format: "pem" },
});

const FULL = {
  GITHUB_APP_ID: "424242",
  GITHUB_APP_PRIVATE_KEY: privateKey,
  GITHUB_WEBHOOK_SECRET: "one",
};

describe("the configuration of GitHub", () => {
  test("the adapter is off without its variables", () => {
    expect(readGithubConfig({ PATH: "/bin", GITHUB_APP_ID: " " })).toEqual({ problems: [] });
  });

  test("the configuration of GitHub is read with defaults", () => {
    const { config, problems } = readGithubConfig(FULL);

    expect(problems).toEqual([]);
    expect(config).toEqual({
      appId: 424242,
      privateKey: privateKey.trim(),
      webhookSecrets: ["one"],
      apiUrl: "https://api.github.com",
      label: "errand",
    });
  });

  test("the configuration of GitHub takes a key whose line breaks are written out, several secrets, a server and a name", () => {
    const { config } = readGithubConfig({
      ...FULL,
      GITHUB_APP_PRIVATE_KEY: privateKey.replaceAll("\n", "\\n"),
      GITHUB_WEBHOOK_SECRET: "one, two",
      GITHUB_API_URL: "https://ghes.example/api/v3/",
      GITHUB_BOT_NAME: "@helper",
    });

    expect(config).toMatchObject({
      privateKey: privateKey.trim(),
      webhookSecrets: ["one", "two"],
      apiUrl: "https://ghes.example/api/v3",
      botName: "helper",
    });
  });

  test.each([
    ["with line breaks", privateKey],
    ["with Windows line breaks", privateKey.replaceAll("\n", "\r\n")],
    ["with \\n for each", privateKey.replaceAll("\n", "\\n")],
    ["with \\r\\n for each", privateKey.replaceAll("\n", "\\r\\n")],
    ["with a space for each", privateKey.trim().replaceAll("\n", " ")],
    ["in double quotes", `"${privateKey.replaceAll("\n", "\\n")}"`],
    ["in single quotes with line breaks", `'${privateKey}'`],
    ["in base64", Buffer.from(privateKey).toString("base64")],
    ["in base64 of several lines", Buffer.from(privateKey).toString("base64").replaceAll(/.{64}/g, "$&\n")],
    [
      "in quoted base64 of one line",
      `"${Buffer.from(privateKey.replaceAll("\n", "\\n")).toString("base64")}"`,
    ],
  ])("the private key of the App is read %s", (_, value) => {
    const { config, problems } = readGithubConfig({ ...FULL, GITHUB_APP_PRIVATE_KEY: value });

    expect(problems).toEqual([]);
    expect(config?.privateKey).toBe(privateKey.trim());
  });

  const publicKey = createPublicKey(privateKey).export({ type: "spki", format: "pem" }).toString();
  const locked = createPrivateKey(privateKey).export({
    ...{ type: "pkcs8", format: "pem" },
    ...{ cipher: "aes-256-cbc", passphrase: "x" },
  });
  test.each([
    ["a public key", publicKey],
    ["a key with a passphrase", locked.toString()],
    ["half a key", privateKey.slice(0, 400)],
    ["the path of the file", "/etc/errand/app.private-key.pem"],
    ["base64 of something else", Buffer.from("hello").toString("base64")],
  ])("%s is refused with the forms that work, and without the value", (_, value) => {
    const { problems } = readGithubConfig({ ...FULL, GITHUB_APP_PRIVATE_KEY: value });

    expect(problems).toEqual([
      expect.stringMatching(/^GITHUB_APP_PRIVATE_KEY: must be .*with \\n or a space.*base64/),
    ]);
    expect(problems.join()).not.toContain(value.slice(0, 60));
  });

  test("a client id and its secret switch the sign-in on, and neither does so alone", () => {
    const client = { GITHUB_CLIENT_ID: "Iv1.abc", GITHUB_CLIENT_SECRET: "shh" };

    const both = readGithubConfig({ ...FULL, ...client });
    const one = readGithubConfig({ ...FULL, GITHUB_CLIENT_ID: "Iv1.abc" });

    expect(both.config?.oauth).toEqual({ clientId: "Iv1.abc", clientSecret: "shh" });
    expect(one).toEqual({
      problems: ["GITHUB_CLIENT_SECRET is missing: sign-in with GitHub needs both."],
      isPartial: true,
    });
  });

  test("missing and invalid variables are reported together", () => {
    expect(readGithubConfig({ GITHUB_APP_ID: "x", GITHUB_CLIENT_ID: "y" }).problems).toEqual([
      'GITHUB_APP_ID: must be the numeric id of the App, such as 123456, not "x"',
      "GitHub is only partly configured. Also set GITHUB_APP_PRIVATE_KEY, GITHUB_WEBHOOK_SECRET.",
      "GITHUB_CLIENT_SECRET is missing: sign-in with GitHub needs both.",
    ]);
  });

  test("a partial configuration is one problem that names the missing variables", () => {
    expect(readGithubConfig({ GITHUB_APP_ID: "1" })).toEqual({
      problems: ["GitHub is only partly configured. Also set GITHUB_APP_PRIVATE_KEY, GITHUB_WEBHOOK_SECRET."],
      isPartial: true,
    });
    expect(readGithubConfig({ GITHUB_BOT_NAME: "x" }).problems).toHaveLength(1);
  });

  test.each([
    ["GITHUB_APP_ID", "Iv1.abc", true],
    ["GITHUB_APP_PRIVATE_KEY", "-----BEGIN RSA PRIVATE KEY-----", false],
    ["GITHUB_WEBHOOK_SECRET", "one,,two", false],
    ["GITHUB_API_URL", "ftp://x", true],
    ["GITHUB_BOT_NAME", "no name", true],
  ])(
    "the error for %s=%s names the variable, and its value unless that is secret",
    (name, value, isShown) => {
      const { config, problems } = readGithubConfig({ ...FULL, [name]: value });

      expect(config).toBeUndefined();
      expect(problems).toHaveLength(1);
      expect(problems[0]).toContain(name);
      expect(problems[0]?.includes(`, not "${value}"`)).toBe(isShown);
    },
  );
});
