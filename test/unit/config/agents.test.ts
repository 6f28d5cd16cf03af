import { describe, expect, test } from "vitest";
import { readConfig } from "../../../src/config/config.ts";

describe("the variables of agents", () => {
  test("the variables of agents have defaults", () => {
    expect(readConfig({}).agent).toEqual({
      setting: "auto",
      model: undefined,
      custom: undefined,
      isWarm: false,
      npmVariables: {},
    });
  });

  test("an agent can be a command of the operator", () => {
    const { agent } = readConfig({
      ERRAND_AGENT: "custom",
      ERRAND_MODEL: "llama-9",
      ERRAND_AGENT_COMMAND: "/opt/goose/goose acp",
      ERRAND_AGENT_READABLE: "/opt/goose:/etc/goose",
    });

    expect(agent).toMatchObject({
      ...{ setting: "custom", model: "llama-9" },
      custom: { argv: ["/opt/goose/goose", "acp"], readable: ["/opt/goose", "/etc/goose"] },
    });
  });

  test.each<[string, Record<string, string>, string]>([
    ["an agent that is not there", { ERRAND_AGENT: "cursor" }, "ERRAND_AGENT"],
    [
      "custom without a command",
      { ERRAND_AGENT: "custom" },
      "ERRAND_AGENT=custom needs ERRAND_AGENT_COMMAND",
    ],
    ["a command that is none", { ERRAND_AGENT_COMMAND: "it's" }, "ERRAND_AGENT_COMMAND: must be"],
    [
      "paths that are not whole",
      { ERRAND_AGENT_READABLE: "opt:/etc" },
      "ERRAND_AGENT_READABLE: must contain only absolute",
    ],
  ])("the problem %s is reported", (_what, env, words) => {
    expect(() => readConfig(env)).toThrow(words);
  });

  test("npm gets the variables that lead to its registry, and no key of the service", () => {
    const variables = {
      PATH: "/bin",
      npm_config_registry: "http://r.test",
      HTTPS_PROXY: "http://p.test",
      no_proxy: "x",
      NODE_EXTRA_CA_CERTS: "/ca",
      SSL_CERT_FILE: "/ca",
    };
    const others = { OPENAI_API_KEY: "sk", HOME: "/home/o", NODE_OPTIONS: "-r x", npm_token: "t" };

    const { npmVariables } = readConfig({ ...variables, ...others }).agent;

    expect(npmVariables).toEqual({ ...variables, npm_config_userconfig: "/home/o/.npmrc" });
  });
});
