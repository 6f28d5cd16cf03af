import { z } from "zod";
import {
  CHECK_STATES,
  countChecks,
  PULL_REQUEST_STATES,
} from "../../core/model/repositories/pull-request-status.ts";
import type { ListedRun } from "../../core/model/runs/run.ts";

export const RunPullRequestStatus = z
  .object({
    url: z.string().describe("The URL of the pull request."),
    state: z.enum(PULL_REQUEST_STATES).describe("`draft` and `open`: it can be merged."),
    checks: z
      .object({
        total: z.int().describe("The checks that decide something: neither skipped nor neutral."),
        passed: z.int().describe("How many of them passed."),
        failed: z.int().describe("How many of them failed. The others are running."),
      })
      .describe("The checks of the newest commit, at most 50."),
    check_runs: z
      .array(
        z.object({
          name: z.string().describe("The name on the platform."),
          state: z.enum(CHECK_STATES).describe("`skipped`: it decided nothing."),
          url: z.string().optional().describe("Where the platform shows it."),
        }),
      )
      .optional()
      .describe("Each check, failed ones first. Absent in lists."),
  })
  .meta({
    id: "RunPullRequestStatus",
    description: "What the platform last said about the newest pull request of the run.",
    examples: [
      {
        url: "https://git.example.com/acme/widgets/pull/7",
        state: "open",
        checks: { total: 4, passed: 3, failed: 1 },
      },
    ],
  });
type RunPullRequestStatus = z.output<typeof RunPullRequestStatus>;

/** The status of an earlier pull request says nothing about the newest. */
export function pullRequestStatusOf(
  { pullRequest, pullRequestStatus: status }: ListedRun,
  isList: boolean,
): { readonly pull_request_status?: RunPullRequestStatus } {
  if (status === undefined || status.url !== pullRequest) {
    return {};
  }
  const { checks, state, url } = status;
  const each = isList ? {} : { check_runs: [...checks] };
  return { pull_request_status: { url, state, checks: countChecks(checks), ...each } };
}
