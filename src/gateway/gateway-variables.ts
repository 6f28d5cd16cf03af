import type { Gateway } from "../core/ports/gateway.ts";
import { GIT_USER } from "./gateway-token.ts";

/** What is reached without the proxy: the gateway itself, and local servers in the sandbox. */
const DIRECT = "localhost,127.0.0.1,::1";

type Variables = Readonly<Record<string, string>>;

/**
 * Environment variables of all processes of an attempt, with which programs and git reach the gateway. None of them
 * is a secret outside of the sandbox.
 */
export function gatewayVariables(
  gateway: Pick<Gateway, "address" | "portForward" | "proxyUrl">,
  gitUrl: string,
): Variables {
  return { ...proxyVariables(gateway.proxyUrl), ...gitVariables(gateway, gitUrl) };
}

/** Programs differ in the spelling that they read. */
function proxyVariables(proxyUrl: string | undefined): Variables {
  if (proxyUrl === undefined) {
    return {};
  }
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
  const entries = [...names.map((name) => [name, proxyUrl] as const), ["NO_PROXY", DIRECT] as const];
  const both = entries.flatMap(([name, value]) => [
    [name, value],
    [name.toLowerCase(), value],
  ]);
  return { ...Object.fromEntries(both), NODE_USE_ENV_PROXY: "1" };
}

function gitVariables(gateway: Pick<Gateway, "address" | "portForward">, gitUrl: string): Variables {
  const settings = [...SETTINGS, ...gitHostSettings(gateway, gitUrl)];
  const numbered = settings.flatMap(([key = "", value = ""], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return {
    GIT_TERMINAL_PROMPT: "0",
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(numbered),
  };
}

/**
 * Git calls the gateway as a proxy, so that it shows the host's own addresses and never the token. It uses plain HTTP
 * up to the gateway, because the gateway could not add its key to a request inside of TLS. Through a port forward it
 * needs no token, because only the sandbox has it, and `git config --list` would print it.
 */
function gitHostSettings(
  { address, portForward }: Pick<Gateway, "address" | "portForward">,
  gitUrl: string,
): readonly (readonly [string, string])[] {
  const { host: ownHost, pathname: token } = new URL(address);
  const { host, hostname } = new URL(gitUrl);
  const spellings = spellingsOf(gitUrl);
  // Programs do not use a proxy for these.
  if (spellings.length === 0 || DIRECT.split(",").includes(hostname)) {
    return spellings.map((url) => [`url.${address}/git/.insteadOf`, url]);
  }
  const shown = `http://${host}/`;
  const proxy =
    portForward === undefined
      ? [
          [`http.${shown}.proxy`, `http://${GIT_USER}:${token.slice(1)}@${ownHost}`] as const,
          [`http.${shown}.proxyAuthMethod`, "basic"] as const,
        ]
      : [[`http.${shown}.proxy`, `http://${ownHost}`] as const];
  return [
    ...proxy,
    ...spellings.map((url) => [`url.${gitUrl.replace(/^https:/, "http:")}/.insteadOf`, url] as const),
  ];
}

/** `core.hooksPath` is not set, because a repository's own hooks are part of its work and run only in the sandbox. */
const SETTINGS = [
  ["credential.helper", ""],
  // Outside of the sandbox the files may belong to another user.
  ["safe.directory", "*"],
  // Git's own maintenance finishes before git returns, instead of in a background process.
  ["gc.autoDetach", "false"],
  ["maintenance.autoDetach", "false"],
];

/**
 * The forms in which people write addresses of the host's repositories. For a host below a path only one form is
 * known.
 */
function spellingsOf(gitUrl: string): readonly string[] {
  const { host, hostname, pathname, protocol } = new URL(gitUrl);
  if (protocol === "file:") {
    return [];
  }
  const written = [`${gitUrl}/`];
  if (pathname !== "/") {
    return written;
  }
  const other = protocol === "https:" ? "http:" : "https:";
  const shells = [`git@${hostname}:`, `ssh://git@${hostname}/`, `git+ssh://git@${hostname}/`];
  return [...written, `${other}//${host}/`, `git://${hostname}/`, ...shells];
}
