import { defined } from "../../core/basics/defined.ts";
import { AppError, plainMessage } from "../../core/basics/errors.ts";
import type { BranchPush, CommitSigning } from "../../core/ports/change-tracker.ts";
import { SCRIPT_ENDS } from "./change-scripts.ts";
import { BYTES_MAX, COMMITS_MAX, type NewCommits, readNewCommits } from "./new-commits.ts";
import type { SandboxedScript, ScriptEnd } from "./sandboxed-script.ts";
import { PRINT_NEW_COMMITS, PUSH_MADE } from "./signed-push-scripts.ts";

/** Messages and lists of files, in addition to the contents. */
const LIST_BYTES = 2 ** 20;
const TOO_LARGE = `their files have more than ${BYTES_MAX / 2 ** 20} MiB`;

/** A script that reaches the host of the repositories. */
export type HostCall = Pick<SandboxedScript, "args" | "env" | "script"> & {
  readonly maxOutputBytes?: number;
};
type RunAtHost = (call: HostCall) => Promise<ScriptEnd>;

interface SignablePush extends Pick<BranchPush, "branch" | "signing" | "signsOff"> {
  /** Only Errand pushes to the branch, so commits that the agent has replaced may go. */
  readonly isOwn: boolean;
}

/**
 * Has the host make the new commits, and pushes them. They have the same files, but other ids. Undefined: the host cannot
 * make them, and nothing is pushed. The branch moves only by the push, so commits that an earlier attempt had made before
 * it was interrupted are never seen.
 */
export async function pushSigned(push: SignablePush, run: RunAtHost): Promise<ScriptEnd | undefined> {
  const { branch, isOwn, signing } = push;
  if (signing === undefined) {
    return undefined;
  }
  const { make, notSigned } = signing;
  const listed = await run(listingOf(push));
  const isListed = listed.exit === "cut" || (listed.exit !== "time-out" && listed.exit.code === 0);
  if (!isListed || listed.output.length === 0) {
    return listed;
  }
  const found = listed.exit === "cut" ? TOO_LARGE : readNewCommits(listed.output);
  const made = typeof found === "string" ? { reason: found } : await makeAll(found, make);
  if ("reason" in made) {
    notSigned(made.reason);
    return undefined;
  }
  const { head, id, remote = "" } = made;
  const lease = isOwn ? `--force-with-lease=refs/heads/${branch}:${remote}` : "";
  const end = await run({ script: PUSH_MADE, args: [branch, lease, id, head], env: {} });
  if (typeof end.exit !== "object" || end.exit.code !== SCRIPT_ENDS.notFetched) {
    return end;
  }
  notSigned("the commits that it made could not be fetched");
  return undefined;
}

function listingOf({ branch, isOwn, signing, signsOff }: SignablePush): HostCall {
  return {
    script: PRINT_NEW_COMMITS,
    args: [branch, isOwn ? "own" : "", signsOff ? "1" : "", String(COMMITS_MAX)],
    env: { CO_AUTHOR: signing?.coAuthor ?? "" },
    maxOutputBytes: BYTES_MAX + LIST_BYTES,
  };
}

/** What may pass is thrown, so that the work is not pushed without signatures because of it. */
async function makeAll(
  { commits, head, remote }: NewCommits,
  make: CommitSigning["make"],
): Promise<
  { readonly reason: string } | { readonly head: string; readonly id: string; readonly remote?: string }
> {
  try {
    return { head, id: commits.length === 0 ? head : await make(commits), ...defined({ remote }) };
  } catch (error) {
    if (error instanceof AppError && !error.retryable) {
      return { reason: plainMessage(error) };
    }
    throw error;
  }
}
