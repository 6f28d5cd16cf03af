import type { Gateway } from "../core/agents/gateway.ts";

/** What is reached without the proxy: the gateway itself, and what the sandbox's own programs listen on. */
const DIRECT = "localhost,127.0.0.1,::1";

type Variables = Readonly<Record<string, string>>;

/** The environment of all processes of an attempt: how programs and git find their way out. Nothing in it is secret outside. */
export function gatewayVariables(gateway: Pick<Gateway, "address" | "proxyUrl">, gitUrl: string): Variables {
  return { ...proxyVariables(gateway.proxyUrl), ...gitVariables(gateway.address, gitUrl) };
}

/** Each is read in one spelling by some program or other. */
function proxyVariables(proxyUrl: string | undefined): Variables {
  if (proxyUrl === undefined) return {};
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

/** Not `core.hooksPath`: a repository's own hooks are part of the work on it, and run in the sandbox alone. */
const SETTINGS = [
  ["credential.helper", ""],
  // Outside of the sandbox the files may belong to another user.
  ["safe.directory", "*"],
  // What git does now and then by itself is done before it returns, not by a process that it leaves behind.
  ["gc.autoDetach", "false"],
  ["maintenance.autoDetach", "false"],
];

/** How people write the addresses of the host's repositories. Behind a path only the one form is known. */
function spellingsOf(gitUrl: string): readonly string[] {
  const { host, hostname, pathname, protocol } = new URL(gitUrl);
  if (protocol === "file:") return [];
  const written = [`${gitUrl}/`];
  if (pathname !== "/") return written;
  const other = protocol === "https:" ? "http:" : "https:";
  const shells = [`git@${hostname}:`, `ssh://git@${hostname}/`, `git+ssh://git@${hostname}/`];
  return [...written, `${other}//${host}/`, `git://${hostname}/`, ...shells];
}
