import { z } from "zod";
import { AppError } from "../../core/errors.ts";
import {
  CHECK_STATES,
  CHECKS_MAX,
  type CheckState,
  type PullRequestCheck,
  type PullRequestState,
  type PullRequestStatus,
} from "../../core/pull-requests/pull-request-status.ts";
import type { GithubCall } from "./client.ts";
import { oneLine } from "./plain-text.ts";
import type { Repository } from "./repositories.ts";

const NAME_MAX = 200;

const pullAnswer = z.object({
  html_url: z.url(),
  state: z.enum(["open", "closed"]),
  draft: z.boolean().nullish(),
  merged_at: z.string().nullish(),
  head: z.object({ sha: z.string() }),
});
const checksAnswer = z.object({
  check_runs: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      conclusion: z.string().nullish(),
      html_url: z.string().nullish(),
    }),
  ),
});

interface ReadableRepository extends Pick<Repository, "owner" | "repo"> {
  readonly call: <Value>(call: GithubCall<Value>) => Promise<Value>;
}

/** Reads the state of a pull request, and the check runs of its newest commit. */
export async function readPullRequest(
  { call, owner, repo }: ReadableRepository,
  number: number,
): Promise<PullRequestStatus> {
  const pull = await call({
    route: "GET /repos/{owner}/{repo}/pulls/{number}",
    parameters: { owner, repo, number },
    answer: pullAnswer,
  });
  const checks = await call({
    route: "GET /repos/{owner}/{repo}/commits/{ref}/check-runs",
    parameters: { owner, repo, ref: pull.head.sha, per_page: 100 },
    answer: checksAnswer,
  }).catch(withoutChecks);
  return { url: pull.html_url, state: stateOf(pull), checks: sorted(checks.check_runs.map(checkOf)) };
}

/** An App or a token without the permission to read checks still says whether the pull request was merged. */
function withoutChecks(error: unknown): z.infer<typeof checksAnswer> {
  if (error instanceof AppError && (error.code === "not_authorized" || error.code === "resource_not_found")) {
    return { check_runs: [] };
  }
  throw error;
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

function checkOf({
  conclusion,
  html_url: url,
  name,
  status,
}: z.infer<typeof checksAnswer>["check_runs"][number]): PullRequestCheck {
  const state = status === "completed" ? (CONCLUSIONS[conclusion ?? ""] ?? "failed") : "running";
  const isLink = url != null && /^https?:\/\//.test(url);
  return { name: oneLine(name, NAME_MAX), state, ...(isLink ? { url } : {}) };
}

const ORDER: readonly CheckState[] = ["failed", ...CHECK_STATES.filter((state) => state !== "failed")];

function sorted(checks: readonly PullRequestCheck[]): readonly PullRequestCheck[] {
  const rank = ({ state }: PullRequestCheck) => ORDER.indexOf(state);
  return checks.toSorted((one, other) => rank(one) - rank(other)).slice(0, CHECKS_MAX);
}
