import type { Gateway } from "../core/agents/gateway.ts";

/** What is reached without the proxy: the gateway itself, and local servers in the sandbox. */
const DIRECT = "localhost,127.0.0.1,::1";

type Variables = Readonly<Record<string, string>>;

/**
 * Environment variables of all processes of an attempt, with which programs and git reach the gateway. None of them
 * is secret outside.
 */
export function gatewayVariables(gateway: Pick<Gateway, "address" | "proxyUrl">, gitUrl: string): Variables {
  return { ...proxyVariables(gateway.proxyUrl), ...gitVariables(gateway.address, gitUrl) };
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

function gitVariables(address: string, gitUrl: string): Variables {
  const settings = [...SETTINGS, ...spellingsOf(gitUrl).map((url) => [`url.${address}/git/.insteadOf`, url])];
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
