import { AppError } from "../../basics/errors.ts";
import { parseRepositoryName, type RepositoryName } from "./repository-name.ts";

/** `git@host:owner/name` */
const SCP = /^[\w.-]+@([\w.-]+):(?!\/\/)(.+)$/;
/** An address without its scheme has a host with a dot, an owner and a name. */
const BARE = /^[\w-]+(\.[\w-]+)+(:\d+)?(\/[^/]+){2}/;

/**
 * The `owner/name` in what people write: that name, or an address on the git host at `gitUrl`, such as the page of a pull
 * request. Throws `invalid_request` for an address on another host, where the same name is another repository.
 */
export function repositoryIn(text: string, gitUrl: string): string {
  const written = text.replace(/^<([^<>|]*)(\|[^<>]*)?>$/, "$1");
  const address = addressIn(written);
  if (address === undefined) {
    return withoutSuffix(written);
  }
  if (address === null) {
    throw new AppError("invalid_request", "`repo=` is no address that I can read.", {
      remedy: "Write `repo=owner/name`.",
    });
  }
  const host = new URL(gitUrl);
  const isHere = host.host !== "" && address.host.replace(/^www\./, "") === host.host.replace(/^www\./, "");
  const root = host.pathname.replace(/\/*$/, "/");
  if (!isHere || !address.pathname.startsWith(root)) {
    const here = host.host === "" ? "the repositories of this server" : `repositories at ${host.host}`;
    throw new AppError(
      "invalid_request",
      `\`repo=\` is an address at ${address.host}. I work with ${here}.`,
      {
        remedy: "Write `repo=owner/name` for one of these.",
      },
    );
  }
  const [owner = "", name = ""] = address.pathname.slice(root.length).split("/");
  return `${owner}/${withoutSuffix(name)}`;
}

/** The repository that a filter names: its name, or its address on any host. Undefined: the text names none. */
export function repositoryNamed(text: string): RepositoryName | undefined {
  const address = addressIn(text);
  // A query is no part of a name.
  const path = address ? `${address.pathname}${address.search}${address.hash}`.slice(1) : text;
  const [owner = "", name = "", ...rest] = path.replace(/\/$/, "").split("/");
  const isRepository = address === undefined ? rest.length === 0 : address !== null;
  return isRepository ? parseRepositoryName(`${owner}/${withoutSuffix(name)}`) : undefined;
}

/** Undefined: it is no address. Null: it cannot be read. */
function addressIn(text: string): URL | null | undefined {
  const [, host, path] = SCP.exec(text) ?? [];
  const url = host === undefined ? (BARE.test(text) ? `https://${text}` : text) : `https://${host}/${path}`;
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(url)) {
    return undefined;
  }
  // Other schemes keep the letters of a host as they are.
  return URL.parse(url.replace(/^(ssh|git)(?=:)/i, "https"));
}

function withoutSuffix(name: string): string {
  return name.replace(/\.git\/?$/i, "").replace(/\/$/, "");
}
