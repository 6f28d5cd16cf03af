const LENGTH_MAX = 250;
const COMMIT = /^[0-9a-f]{40}([0-9a-f]{24})?$/;
/** https://git-scm.com/docs/git-check-ref-format, and nothing that `ls-remote` would take for a pattern. */
const NOT_IN_NAMES = /[\p{C}\s~^:?*[\]\\{}]|\.\.|@\{|\/\/|\/\.|\.lock(\/|$)|^[-./@]|[./]$/u;

/** Whether it can be the name of a branch or tag. One that begins with a dash would be read as an option. */
export function isRefName(name: string): boolean {
  return name !== "" && name.length <= LENGTH_MAX && !NOT_IN_NAMES.test(name);
}

export function isCommitId(text: string): boolean {
  return COMMIT.test(text);
}
