import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { FollowUpResult } from "../../core/runs/transaction-extras.ts";
import type { ApiDeps } from "../api-deps.ts";
import { signInMethodOf, viewerOf } from "../auth/authentication.ts";
import { RunParams, requireRunId } from "../schemas/ids.ts";
import { problems } from "../schemas/problem.ts";
import { RunState } from "../schemas/run-requests.ts";
import { textOfCharacters } from "../schemas/text.ts";
import type { Idempotency } from "./idempotency.ts";

const COMMENT_LENGTH = 1_000;
const HASH_EXAMPLE = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

const PermissionAnswerRequest = z
  .object({
    option_id: z.string().min(1).describe("One of the agent's options: `permission.options` of the run."),
  })
  .meta({
    id: "PermissionAnswerRequest",
    description: "The answer to a permission request.",
    examples: [{ option_id: "allow_once" }],
  });

const ApprovalRequest = z
  .object({
    approve: z
      .boolean()
      .describe(
        "false: the run is refused and cancelled, or the follow-up is withdrawn and the run continues.",
      ),
    inputs_hash: z
      .string()
      .min(1)
      .describe(
        "`approval.inputs_hash` of the run, or of one follow-up. It says what the decision is about.",
      ),
    comment: textOfCharacters(COMMENT_LENGTH).optional().describe("Published together with the decision."),
  })
  .meta({
    id: "ApprovalRequest",
    description: "The decision about a run or a follow-up that waits for approval.",
    examples: [{ approve: false, inputs_hash: HASH_EXAMPLE, comment: "Not on a Friday" }],
  });

const RunStateResponse = z.object({ state: RunState }).meta({
  id: "RunStateResponse",
  description: "The current state of the run.",
  examples: [{ state: "QUEUED" }],
});

const config = { scope: "runs:write", describedHeaders: ["Idempotency-Key"] } as const;
const response = { 200: RunStateResponse, ...problems(400, 401, 403, 404, 409, 422, 503) };

const PERMISSION = {
  operationId: "answerPermission",
  summary: "Answer a permission request of a run",
  description: "If the question is already answered or no longer open, the response is a conflict.",
  tags: ["runs"],
  params: RunParams.extend({ permissionId: z.string().describe("The id of the permission request.") }),
  body: PermissionAnswerRequest,
  response,
};
const APPROVAL = {
  operationId: "decideApproval",
  summary: "Approve or refuse what waits for approval",
  description:
    "`inputs_hash` says what the decision is about: the inputs of a run before its start, or one follow-up. If the " +
    "inputs have changed since, the response is a conflict. Allowed to administrators, and to principals that a policy " +
    "allows to approve, except for their own words. Who signed in to the pages with an account of the platform of a thread " +
    "may decide what that account may decide in the thread. Repeating the same decision is not an error; a different decision " +
    "is a conflict.",
  tags: ["runs"],
  params: RunParams,
  body: ApprovalRequest,
  response,
};

/** The decisions of people about runs that wait for them. */
export function runDecisionRoutes(
  { runs, standing }: Pick<ApiDeps, "runs" | "standing">,
  idempotency: Idempotency,
): FastifyPluginAsyncZod {
  return async (app) => {
    const path = "/agent/runs/:runId/permissions/:permissionId";
    app.post(path, { schema: PERMISSION, config }, async (request, reply) => {
      const id = requireRunId(request.params.runId);
      const { permissionId } = request.params;
      const choice = { permissionId, optionId: request.body.option_id };
      return idempotency.writeRunOnce(request, reply, {
        operation: "runs.answer-permission",
        target: `${id} ${permissionId}`,
        perform: async (extras) => ({
          run: await runs.answerPermission(id, viewerOf(request), choice, extras),
        }),
        answer: stateOf,
      });
    });
    app.post("/agent/runs/:runId/approval", { schema: APPROVAL, config }, async (request, reply) => {
      const id = requireRunId(request.params.runId);
      const { approve, comment, inputs_hash: inputsHash } = request.body;
      const decision = defined({ approve, inputsHash, comment });
      return idempotency.writeRunOnce(request, reply, {
        operation: "runs.approve",
        target: id,
        perform: async (extras) => ({
          run: await runs.approve(id, viewerOf(request), decision, {
            ...extras,
            provenFrom: () => standing.find(id, viewerOf(request), signInMethodOf(request)),
          }),
        }),
        answer: stateOf,
      });
    });
  };
}

function stateOf({ run: { state } }: FollowUpResult) {
  return { state };
}
