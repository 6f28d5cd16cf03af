import type { LeftOutWork } from "../../ports/change-tracker.ts";

/** How many paths a sentence names. */
const NAMED_MAX = 10;

const SENTENCES: readonly {
  readonly reason: LeftOutWork["reason"];
  readonly text: (paths: string) => string;
}[] = [
  {
    reason: "large",
    text: (paths) =>
      `Larger than 10 MiB, so in no patch and no pull request: ${paths}. To keep such a file, ask the agent to put it ` +
      "into the folder artifacts/, or to commit it with Git LFS.",
  },
  {
    reason: "unreadable",
    text: (paths) =>
      `Not readable, so in no patch and no pull request: ${paths}. Ask the agent to change their permissions.`,
  },
  {
    reason: "deep",
    text: (paths) =>
      `In too many folders inside each other, so in no patch and no pull request: ${paths}. Ask the agent to move the ` +
      "files up.",
  },
  {
    reason: "repository",
    text: (paths) =>
      `Changed in repositories of their own inside the repository, so in no patch and no pull request: ${paths}. ` +
      "Ask the agent to push from there, or to copy the files.",
  },
  {
    reason: "submodule",
    text: (paths) =>
      `Changed in submodules whose host does not have the changes, so in no patch and no pull request: ${paths}. ` +
      "Ask the agent to push from there first, and then to commit the new version of the submodule.",
  },
  {
    reason: "worktree",
    text: (paths) =>
      `The agent left work in other worktrees, which is in no patch and no pull request: ${paths}. Ask it to commit the ` +
      "work there and to merge it into the branch of the repository's folder.",
  },
  {
    reason: "branch",
    text: (names) =>
      `The agent left commits on other branches, which are in no patch and no pull request: ${names}. Ask it to merge ` +
      "them into the checked-out branch.",
  },
  {
    reason: "stash",
    text: (names) =>
      `The agent left work in stashes, which is in no patch and no pull request: ${names}. Ask it to apply them with ` +
      "`git stash pop`.",
  },
];

/** Says in words what the agent made that is not handed over, and what a person can do. One sentence for each reason. */
export function leftOutWords(leftOut: readonly LeftOutWork[]): readonly string[] {
  return SENTENCES.flatMap(({ reason, text }) => {
    const paths = [...new Set(leftOut.flatMap((each) => (each.reason === reason ? [each.path] : [])))];
    const rest = paths.length - NAMED_MAX;
    const named = paths.slice(0, NAMED_MAX).map((path) => `\`${path}\``);
    return paths.length === 0 ? [] : [text([...named, ...(rest > 0 ? [`${rest} more`] : [])].join(", "))];
  });
}
