import { describe, expect, test } from "vitest";
import { gatewayVariables } from "../../../src/gateway/gateway-variables.ts";

const ADDRESS = "http://127.0.0.1:21721/token";
const PROXY = "http://errand:token@127.0.0.1:21721";

function settingsOf(variables: Readonly<Record<string, string>>): readonly string[] {
  const count = Number(variables.GIT_CONFIG_COUNT);
  return Array.from({ length: count }, (_, index) => {
    return `${variables[`GIT_CONFIG_KEY_${index}`]}=${variables[`GIT_CONFIG_VALUE_${index}`]}`;
  });
}

function rewrittenTo(gitUrl: string): readonly string[] {
  const isLocal = gitUrl.includes("127.0.0.1");
  const key = `url.${isLocal ? `${ADDRESS}/git` : gitUrl.replace("https:", "http:")}/.insteadOf=`;
  const settings = settingsOf(gatewayVariables({ address: ADDRESS }, gitUrl));
  return settings.filter((each) => each.startsWith(key)).map((each) => each.slice(key.length));
}

describe("environment variables of an attempt's processes", () => {
  test("with network access the variables name the proxy and exclude local addresses from it", () => {
    const variables = gatewayVariables({ address: ADDRESS, proxyUrl: PROXY }, "https://github.com");

    for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"]) {
      expect(variables[name]).toBe(PROXY);
    }
    expect(variables).toMatchObject({
      NO_PROXY: "localhost,127.0.0.1,::1",
      no_proxy: "localhost,127.0.0.1,::1",
      NODE_USE_ENV_PROXY: "1",
    });
  });

  test("without network access the variables name no proxy", () => {
    expect(Object.keys(gatewayVariables({ address: ADDRESS }, "https://github.com")).join()).not.toMatch(
      /proxy/i,
    );
  });

  test("git gets the token only where other programs of the machine could reach the gateway", () => {
    const portForward = { socketPath: "/gw/s", port: 21_721 };
    const through = settingsOf(gatewayVariables({ address: ADDRESS, portForward }, "https://github.com"));
    const open = settingsOf(gatewayVariables({ address: ADDRESS }, "https://github.com"));

    expect(through).toContain("http.http://github.com/.proxy=http://127.0.0.1:21721");
    expect(through.join("\n")).not.toContain("token");
    expect(open).toContain("http.http://github.com/.proxy=http://git:token@127.0.0.1:21721");
  });

  test("git does not prompt for credentials", () => {
    const variables = gatewayVariables({ address: ADDRESS }, "https://github.com");

    expect(variables.GIT_TERMINAL_PROMPT).toBe("0");
    expect(settingsOf(variables)).toContain("credential.helper=");
    expect(settingsOf(variables).join()).not.toContain("hooksPath");
  });

  test.each([
    [
      "https://github.com",
      [
        "https://github.com/",
        "http://github.com/",
        "git://github.com/",
        "git@github.com:",
        "ssh://git@github.com/",
        "git+ssh://git@github.com/",
      ],
    ],
    [
      "http://127.0.0.1:3000",
      [
        "http://127.0.0.1:3000/",
        "https://127.0.0.1:3000/",
        "git://127.0.0.1/",
        "git@127.0.0.1:",
        "ssh://git@127.0.0.1/",
        "git+ssh://git@127.0.0.1/",
      ],
    ],
    ["https://git.example.com/scm", ["https://git.example.com/scm/"]],
    ["file:///srv/git", []],
  ])("git rewrites the supported URL forms of %s to the gateway", (gitUrl, spellings) => {
    expect(rewrittenTo(gitUrl)).toEqual(spellings);
  });
});
