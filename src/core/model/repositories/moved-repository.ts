import { parseRepositoryName } from "./repository-name.ts";

/** What a git host answers to the first request of a clone, a fetch or a push. */
interface FirstAnswer {
  readonly status: number;
  readonly location: string | undefined;
}

/**
 * The address to which the git host redirects after a rename or a transfer of the repository at `url`. Undefined: there
 * is none, or it is not beside the other repositories of this host, which alone get its keys.
 */
export function presentAddressOf(url: string, { location, status }: FirstAnswer): string | undefined {
  const isRedirect = status >= 300 && status < 400 && location !== undefined;
  const target = isRedirect ? URL.parse(location, url)?.href : undefined;
  // The address without owner and name.
  const root = new URL("../", url).href;
  if (target?.startsWith(root) !== true) {
    return undefined;
  }
  const [, name = ""] = /^(.+)\.git\/info\/refs(?:\?|$)/.exec(target.slice(root.length)) ?? [];
  return parseRepositoryName(name) === undefined ? undefined : `${root}${name}.git`;
}
