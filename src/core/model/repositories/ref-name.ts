const LENGTH_MAX = 250;
const COMMIT = /^[0-9a-f]{40}([0-9a-f]{24})?$/;
/** The rules of https://git-scm.com/docs/git-check-ref-format. Patterns of `ls-remote` are excluded as well. */
const NOT_IN_NAMES = /[\p{C}\s~^:?*[\]\\{}]|\.\.|@\{|\/\/|\/\.|\.lock(\/|$)|^[-./@]|[./]$/u;

/** Whether it can be the name of a branch or tag. Git would read a leading dash as an option. */
export function isRefName(name: string): boolean {
  return name !== "" && name.length <= LENGTH_MAX && !NOT_IN_NAMES.test(name);
}

export function isCommitId(text: string): boolean {
  return COMMIT.test(text);
}
