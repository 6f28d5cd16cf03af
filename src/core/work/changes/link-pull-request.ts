import { newId } from "../../basics/ids.ts";
import { retry, WHILE_UNAVAILABLE } from "../../basics/retry.ts";
import type { Thread } from "../../model/threads/thread.ts";
import type { PullRequest } from "../../ports/pull-requests.ts";
import { UniqueConflict } from "../../ports/stores/storage.ts";
import type { RunEdit } from "../../runs/run-edit.ts";
import type { AttemptDeps } from "../lease/attempt-deps.ts";
import type { LeaseWriter } from "../lease/lease-writer.ts";

export interface LinkPullRequestDeps extends Pick<AttemptDeps, "clock" | "run" | "storage"> {
  readonly lease: LeaseWriter;
}

/**
 * Links a pull request to the run: it is shown with the run, and comments on it are follow-ups of the run. Can be
 * repeated.
 */
export async function linkPullRequest(deps: LinkPullRequestDeps, pullRequest: PullRequest): Promise<void> {
  const { clock, lease, run, storage } = deps;
  const { awaitsChecks, branch, linksToRun = false, url } = pullRequest;
  const artifacts = await retry(clock, WHILE_UNAVAILABLE, () => storage.files.artifactsOf([run.id]));
  const isKnown = artifacts.some(({ body, key }) => body.type === "PULL_REQUEST" && key === url);
  const thread = await findFreeThread(deps, pullRequest);
  if (isKnown && thread === undefined) {
    return;
  }
  const keep = (edit: RunEdit) => {
    if (!isKnown) {
      edit.addArtifact({ key: url, body: { type: "PULL_REQUEST", url, branch } });
    }
    if (awaitsChecks === true) {
      edit.setPullRequestStatus({ url, state: "draft", checks: [], awaitsChecks });
    }
  };
  try {
    await lease.write((edit) => {
      keep(edit);
      if (thread !== undefined) {
        edit.bind({ thread, expected: undefined, showsCard: !linksToRun });
      }
    });
  } catch (error) {
    // Another run was bound to this thread at the same moment, and keeps it.
    if (!(error instanceof UniqueConflict)) {
      throw error;
    }
    await lease.write(keep);
  }
}

/** The thread of the pull request, unless a run is bound to it already. */
async function findFreeThread(
  { clock, storage }: LinkPullRequestDeps,
  { thread }: PullRequest,
): Promise<Thread | undefined> {
  if (thread === undefined) {
    return undefined;
  }
  const { adapter, installation, key } = thread;
  const address = { adapter, installation, key };
  const known = await retry(clock, WHILE_UNAVAILABLE, () => storage.threads.find(address));
  if (known?.runId !== undefined) {
    return undefined;
  }
  return { id: known?.id ?? newId(clock.now()), ...address };
}
