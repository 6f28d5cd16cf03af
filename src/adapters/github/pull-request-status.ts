import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import {
  CHECK_STATES,
  CHECKS_MAX,
  type CheckState,
  type PullRequestCheck,
  type PullRequestState,
} from "../../core/model/repositories/pull-request-status.ts";
import type { PullRequestReading } from "../../core/ports/pull-requests.ts";
import { type CommitCheck, readCommitChecks } from "./commit-checks.ts";
import type { CallRepository } from "./routes.ts";
import { oneLine } from "./shown-text.ts";

const NAME_MAX = 200;

export const pullAnswer = z.object({
  html_url: z.url(),
  state: z.enum(["open", "closed"]),
  draft: z.boolean().nullish(),
  merged_at: z.string().nullish(),
  head: z.object({ sha: z.string() }),
  base: z.object({ ref: z.string() }),
});

/**
 * Reads the state of a pull request, and the checks of its newest commit. An App or a token without the permission to
 * read checks still says whether the pull request was merged.
 */
export async function readPullRequest(
  { appId, call }: { readonly appId?: number; readonly call: CallRepository },
  number: number,
): Promise<PullRequestReading> {
  const pull = await call({
    route: "GET /repos/{owner}/{repo}/pulls/{pull_number}",
    parameters: { pull_number: number },
    answer: pullAnswer,
  });
  const { checks } = await readCommitChecks(call, pull.head.sha, appId);
  return readingOf(pull, checks);
}

export function readingOf(
  pull: z.infer<typeof pullAnswer>,
  checks: readonly CommitCheck[],
): PullRequestReading {
  const { base, html_url: url } = pull;
  return { url, base: base.ref, state: stateOf(pull), checks: sorted(checks.map(checkOf)) };
}

function stateOf({ draft, merged_at: mergedAt, state }: z.infer<typeof pullAnswer>): PullRequestState {
  if (state === "closed") {
    return mergedAt ? "merged" : "closed";
  }
  return draft ? "draft" : "open";
}

const CONCLUSIONS: Readonly<Record<string, CheckState>> = {
  success: "passed",
  neutral: "skipped",
  skipped: "skipped",
};

function checkOf({ conclusion, name, status, url }: CommitCheck): PullRequestCheck {
  const state = status === "completed" ? (CONCLUSIONS[conclusion ?? ""] ?? "failed") : "running";
  const isLink = url != null && /^https?:\/\//.test(url);
  return defined({ name: oneLine(name, NAME_MAX), state, url: isLink ? url : undefined });
}

const ORDER: readonly CheckState[] = ["failed", ...CHECK_STATES.filter((state) => state !== "failed")];

function sorted(checks: readonly PullRequestCheck[]): readonly PullRequestCheck[] {
  const rank = ({ state }: PullRequestCheck) => ORDER.indexOf(state);
  return checks.toSorted((one, other) => rank(one) - rank(other)).slice(0, CHECKS_MAX);
}
