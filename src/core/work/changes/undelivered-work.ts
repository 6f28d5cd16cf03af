import { AppError } from "../../basics/errors.ts";
import { listText } from "../../basics/list-text.ts";
import { isBranchProtected, remedyOf } from "../../model/repositories/host-words.ts";
import type { RepositoryName } from "../../model/repositories/repository-name.ts";
import { homeRepositoryOf } from "../../model/runs/home-repository.ts";
import type { Run, StatusMessage } from "../../model/runs/run.ts";
import type { RefusedWork } from "../../model/runs/stored-outcome.ts";
import type { LeftOutWork, RepositoryDiff } from "../../ports/change-tracker.ts";

/** How many paths a sentence names. */
const NAMED_MAX = 10;

interface LeftOutSentence {
  readonly reason: LeftOutWork["reason"];
  readonly message: (paths: string) => string;
  readonly remedy: string;
}

const SENTENCES: readonly LeftOutSentence[] = [
  {
    reason: "large",
    message: (paths) => `Larger than 10 MiB, so in no patch and no pull request: ${paths}.`,
    remedy:
      "To keep such a file, ask the agent to put it into the folder artifacts/, or to commit it with Git LFS.",
  },
  {
    reason: "unreadable",
    message: (paths) => `Not readable, so in no patch and no pull request: ${paths}.`,
    remedy: "Ask the agent to change their permissions.",
  },
  {
    reason: "deep",
    message: (paths) =>
      `In too many folders inside each other, so in no patch and no pull request: ${paths}.`,
    remedy: "Ask the agent to move the files up.",
  },
  {
    reason: "ignored",
    message: (paths) => `Ignored by git, so in no patch and no pull request: ${paths}.`,
    remedy: "If you need such a file, ask the agent to commit it with `git add --force`.",
  },
  {
    reason: "repository",
    message: (paths) =>
      `Changed in repositories of their own inside the repository, so in no patch and no pull request: ${paths}.`,
    remedy: "Ask the agent to push from there, or to copy the files.",
  },
  {
    reason: "submodule",
    message: (paths) =>
      `Changed in submodules whose host does not have the changes, so in no patch and no pull request: ${paths}.`,
    remedy: "Ask the agent to push from there first, and then to commit the new version of the submodule.",
  },
  {
    reason: "worktree",
    message: (paths) =>
      `The agent left work in other worktrees, which is in no patch and no pull request: ${paths}.`,
    remedy: "Ask it to commit the work there and to merge it into the branch of the repository's folder.",
  },
  {
    reason: "branch",
    message: (names) =>
      `The agent left commits on other branches, which are in no patch and no pull request: ${names}.`,
    remedy: "Ask it to merge them into the checked-out branch.",
  },
  {
    reason: "stash",
    message: (names) => `The agent left work in stashes, which is in no patch and no pull request: ${names}.`,
    remedy: "Ask it to apply them with `git stash pop`.",
  },
];

const ELSEWHERE: Partial<Record<LeftOutWork["reason"], string>> = {
  worktree: "in the worktree",
  branch: "on the branch",
  stash: "in the stash",
};

/** Whether all of the work exists as commits or files, only in another place than the one that is handed over. */
export function isElsewhere({ reason }: LeftOutWork): boolean {
  return ELSEWHERE[reason] !== undefined;
}

/** Says what the agent made that is not handed over, and what a person can do. One part for each reason. */
export function leftOutParts(leftOut: readonly LeftOutWork[]): readonly RefusedWork[] {
  return SENTENCES.flatMap(({ message, reason, remedy }) => {
    const work = leftOut.filter((each) => each.reason === reason);
    const paths = [...new Set(work.map(({ path }) => path))];
    const named = paths.slice(0, NAMED_MAX).map((path) => `\`${path}\``);
    const all = listText(named, paths.length);
    const what = work.some(isElsewhere) ? "pull_request" : "file";
    return paths.length === 0 ? [] : [{ what, by: "Errand", message: message(all), remedy }];
  });
}

/** Says where the work was that is now handed over from the checked-out branch. */
export function movedWords(moved: readonly LeftOutWork[], hasPullRequest: boolean): readonly string[] {
  const now = hasPullRequest ? "it is in the pull request" : "it is among the changes of the run";
  return moved.map(({ path, reason }) => `The agent's work was ${ELSEWHERE[reason]} \`${path}\`; ${now}.`);
}

const SELF = "Errand";
const AGAIN = "Send a follow-up to try again.";
const UNEXPECTED = {
  push: "The work could not be pushed.",
  pull_request: "The pull request could not be opened.",
} as const;

/** `branch`: where the work is that has no pull request. */
export function refusalOf(
  what: "push" | "pull_request",
  error: unknown,
  { branch, host }: { readonly branch: string | undefined; readonly host: string },
): RefusedWork {
  if (!(error instanceof AppError)) {
    return { what, by: SELF, message: UNEXPECTED[what], remedy: AGAIN };
  }
  const { message, options } = error;
  if (what === "push") {
    return { what, by: SELF, message, remedy: options.remedy ?? remedyOf(message) };
  }
  const place = branch === undefined ? "" : ` The work is on the branch ${branch}.`;
  const by = error.code === "integration_not_configured" ? SELF : host;
  return { what, by, message: options.said ?? message, remedy: `${options.remedy ?? AGAIN}${place}` };
}

/** Nobody reads a longer patch in a thread. */
const PATCH_BYTES_MAX = 20_000;

/** How a run ends whose work in the pull request of a fork is not pushed. */
export function unpushedStatus(run: Pick<Run, "provenance">): StatusMessage {
  const { fork, name, owner } = homeRepositoryOf(run) ?? {};
  return {
    message:
      "The work is a patch and is not pushed: on a branch, workflows could run the code of the fork " +
      `${fork?.name ?? "(deleted)"} with the secrets of ${owner}/${name}.`,
    remedy:
      "Read the patch and apply it. Or, if the code of the fork can be trusted, a person with write permission gets a " +
      "branch: mention the bot with `new pr=draft` and the task.",
  };
}

/** How a run ends whose work is suggestions, because the rules of the branch refused the push. */
export function protectedStatus({ branch, hostWords }: { branch: string; hostWords: string }): StatusMessage {
  return {
    message: `The work is not pushed, because the branch ${branch} refuses it: ${hostWords}`,
    remedy:
      "Commit the suggestions, or apply the patch. To get a pull request into that branch instead, mention the bot with " +
      "`new pr=draft` and the task.",
  };
}

/** Why there is a pull request beside the one in which the work was asked for. */
export function besideRemark(branch: string, hostWords: string | undefined): string {
  const isProtected = hostWords !== undefined && isBranchProtected(hostWords);
  const reason = isProtected
    ? `its rules refuse the push (${hostWords.replace(/[.\s]+$/, "")})`
    : "it did not take the push, for example because another person pushed meanwhile";
  return `The work is not on the branch ${branch}, because ${reason}. It is in a pull request into that branch.`;
}

/** Why the work of a run in an empty repository has no pull request. */
export function firstBranchRemark({ name, owner }: RepositoryName, branch: string): string {
  return `The repository ${owner}/${name} had no commit, so there is no branch to open a pull request into. The work is on its first branch, ${branch}. Rename that branch, or push it to the name that the default branch shall have.`;
}

/** How a run ends for which only a default wants a pull request that Errand may not make. Undefined: it may. */
export function unwritableStatus(
  { provenance }: Pick<Run, "provenance">,
  hostWords: string | undefined,
): StatusMessage | undefined {
  if (hostWords === undefined && provenance.may_open_pull_request !== false) {
    return undefined;
  }
  const reason =
    hostWords === undefined ? "the team has no credentials for one" : `the host says: ${hostWords}`;
  return {
    message: `No pull request was made, because ${reason}.`.replace(/\.\.$/, "."),
    remedy:
      "An administrator gives Errand's app or the team's token permission to write there. Then ask for it again.",
  };
}

/** The whole patch, if it is text that fits into a message. */
export function shortPatch(
  [diff, ...others]: readonly Pick<RepositoryDiff, "isCut" | "patch">[],
  clean: (text: string) => string,
): string | undefined {
  if (diff === undefined || others.length > 0 || diff.isCut || diff.patch.length > PATCH_BYTES_MAX) {
    return undefined;
  }
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(diff.patch);
  // A patch with other characters cannot be applied.
  return text.includes("\uFFFD") || clean(text) !== text ? undefined : text;
}
