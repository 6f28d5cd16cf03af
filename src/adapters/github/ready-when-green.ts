import { z } from "zod";
import { AppError } from "../../core/basics/errors.ts";
import type { PullRequestReading } from "../../core/ports/pull-requests.ts";
import type { GithubClient } from "./client.ts";
import type { CommitChecks } from "./commit-checks.ts";
import { type ErrandFileDeps, withErrandFile } from "./errand-file/reader.ts";

/** REST has no such call. https://docs.github.com/graphql/reference/mutations#markpullrequestreadyforreview */
const READY =
  "mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } } }";

/** Whether the pull request is a draft whose checks have all ended, at least one of them well and none badly. */
export function isGreenDraft({ checks, state }: PullRequestReading, { unread }: CommitChecks): boolean {
  const isOver = checks.every((check) => check.state === "passed" || check.state === "skipped");
  return (
    state === "draft" && unread.length === 0 && isOver && checks.some((check) => check.state === "passed")
  );
}

/**
 * Makes the draft ready, and returns how it is then. The file of the repository may have changed since the draft was
 * opened, and GitHub may refuse it.
 */
export async function readyReading(
  { nodeId: id, ...reading }: PullRequestReading & { readonly nodeId: string | undefined },
  at: { readonly id: number; readonly installation: string },
  deps: ErrandFileDeps & { readonly client: Pick<GithubClient, "graphql"> },
): Promise<PullRequestReading> {
  const settings = await withErrandFile(at, deps, async (found) => found);
  if (settings?.isReadyWhenGreen !== true || id === undefined) {
    return reading;
  }
  try {
    await deps.client.graphql(at.installation, { query: READY, variables: { id }, answer: z.unknown() });
    return { ...reading, state: "open" };
  } catch (error) {
    if (error instanceof AppError && !error.retryable) {
      return reading;
    }
    throw error;
  }
}
