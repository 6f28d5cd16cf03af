import { z } from "zod";
import { CANCEL_STATUSES } from "../../core/requests/cancel-many.ts";

const RUNS_MAX = 100;
const RUN_ID = "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d6e";

export const CancelRunsRequest = z
  .object({
    run_ids: z.array(z.string()).max(RUNS_MAX).describe(`The ids of the runs, at most ${RUNS_MAX}.`),
  })
  .meta({
    id: "CancelRunsRequest",
    description: "The runs to cancel.",
    examples: [{ run_ids: [RUN_ID] }],
  });

const CancelStatus = z.enum(CANCEL_STATUSES).meta({
  id: "CancelStatus",
  description:
    "`cancelled`: this request cancelled the run. `already_cancelled`: it was cancelled before. `ended`: it had ended " +
    "in another state. `not_found`: it does not exist, or the caller cannot see it. `not_authorized`: a policy forbids it.",
  examples: ["cancelled"],
});

const CancelResult = z
  .object({ run_id: z.string().describe("The id as requested."), status: CancelStatus })
  .meta({
    id: "CancelResult",
    description: "The result for one run.",
    examples: [{ run_id: RUN_ID, status: "cancelled" }],
  });

export const CancelRunsResponse = z
  .object({ results: z.array(CancelResult).describe("In the order of the request.") })
  .meta({
    id: "CancelRunsResponse",
    description: "The result for each requested run.",
    examples: [{ results: [{ run_id: RUN_ID, status: "cancelled" }] }],
  });
