import { z } from "zod";
import { ProblemDetails } from "./problem.ts";
import { RUN_REQUEST_EXAMPLE, RUN_RESPONSE_EXAMPLE } from "./run-examples.ts";
import { RunAgentRequest, RunAgentResponse } from "./run-requests.ts";

export const CREATED_TOGETHER_MAX = 50;

export const RunOfBatch = RunAgentRequest.safeExtend({
  idempotency_key: z
    .string()
    .regex(/^[\x20-\x7e]{1,255}$/, "must have 1 to 255 printable ASCII characters")
    .optional()
    .describe(
      "The key of this run, as the header `Idempotency-Key` of a single request. Default: one that is made from the header " +
        "of this request and the position of the run.",
    ),
}).meta({
  id: "RunOfBatch",
  description: "A new run, as in `POST /agent/runs`, and its key.",
  examples: [{ ...RUN_REQUEST_EXAMPLE, idempotency_key: "deploy-2026-03-01" }],
});

export const CreateRunsRequest = z
  .object({
    runs: z
      .array(RunOfBatch)
      .min(1)
      .max(CREATED_TOGETHER_MAX)
      .describe(`The runs to start, at most ${CREATED_TOGETHER_MAX}.`),
  })
  .meta({
    id: "CreateRunsRequest",
    description: "Several new runs. Each is accepted or refused by itself.",
    examples: [{ runs: [RUN_REQUEST_EXAMPLE] }],
  });

const CreateRunsResult = RunAgentResponse.partial()
  .extend({
    error: ProblemDetails.optional().describe("Why the run was not started. Then no other member is there."),
  })
  .meta({
    id: "CreateRunsResult",
    description: "What a single request for this run would have returned.",
    examples: [RUN_RESPONSE_EXAMPLE],
  });

export const CreateRunsResponse = z
  .object({ results: z.array(CreateRunsResult).describe("In the order of the request.") })
  .meta({
    id: "CreateRunsResponse",
    description: "The result for each run.",
    examples: [{ results: [RUN_RESPONSE_EXAMPLE] }],
  });
export type CreateRunsResponse = z.output<typeof CreateRunsResponse>;
