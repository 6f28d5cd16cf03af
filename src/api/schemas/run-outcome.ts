import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { PULL_REQUEST_STATES } from "../../core/model/repositories/pull-request-status.ts";
import type { ListedRun } from "../../core/model/runs/run.ts";
import { outcomeOf, patchLink } from "../../core/model/runs/run-outcome.ts";
import { REFUSED_PARTS } from "../../core/model/runs/stored-outcome.ts";

export const RunOutcome = z
  .object({
    summary: z.string().describe("The outcome in one line."),
    pull_request: z
      .object({
        url: z.string().describe("The URL of the newest pull request."),
        state: z.enum(PULL_REQUEST_STATES).optional().describe("What the platform last said about it."),
        number: z.int().optional().describe("Its number on the platform."),
      })
      .optional()
      .describe("The newest pull request of the run."),
    changes: z
      .object({
        files: z.int().describe("The changed files."),
        additions: z.int().describe("Added lines."),
        deletions: z.int().describe("Deleted lines."),
      })
      .optional()
      .describe("What the run has changed in all repositories since they were cloned. Absent: unknown."),
    refused: z
      .array(
        z.object({
          what: z.enum(REFUSED_PARTS).describe("The part of the work that was not handed over."),
          by: z.string().describe("The host that refused it, or `Errand`."),
          message: z.string().describe("The reason, in the words of the one who refused it."),
          remedy: z.string().optional().describe("What you can do about it."),
          patch_url: z.string().optional().describe("The page with the patch. Absent in events."),
        }),
      )
      .optional()
      .describe(
        "What the last turn could not hand over, although the run SUCCEEDED: a push or a pull request that the host " +
          "refused. Absent: nothing is missing.",
      ),
  })
  .meta({
    id: "RunOutcome",
    description: "What came of a run that has ended.",
    examples: [
      {
        summary: "Done, but not pushed: git.example.com says: Protected branch update failed.",
        changes: { files: 2, additions: 14, deletions: 3 },
        refused: [
          {
            what: "push",
            by: "git.example.com",
            message: "Protected branch update failed.",
            remedy:
              "Change the rules of the host so that Errand may push its own branches, or apply the patch.",
            patch_url: "https://errand.example.com/sessions/0195b2a4-7f00-7c11-9d2e-5a6b7c8d9e0f?tab=changes",
          },
        ],
      },
    ],
  });
type RunOutcome = z.output<typeof RunOutcome>;

export function runOutcomeItem(run: ListedRun, sessionLink: string): RunOutcome | undefined {
  const { changes, pullRequest, refused, summary } = outcomeOf(run) ?? {};
  if (summary === undefined) {
    return undefined;
  }
  return defined({
    summary,
    pull_request: pullRequest,
    changes,
    refused: refused?.map((part) => ({ ...part, patch_url: patchLink(sessionLink) })),
  });
}
