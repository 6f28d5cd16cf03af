import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { parseRunId, type RunId } from "../../core/basics/ids.ts";
import {
  CANCEL_STATUSES,
  CANCELLED_TOGETHER_MAX,
  type CancelStatus,
} from "../../core/requests/cancel-many.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { ConversationParams, RunParams, requireRunId } from "../schemas/ids.ts";
import { filtersOf, RunFilter } from "../schemas/list-runs.ts";
import { problems } from "../schemas/problem.ts";
import { findContinued } from "./conversations.ts";
import type { Idempotency } from "./idempotency.ts";

const RUNS_MAX = 100;
const RUN_ID = "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d6e";

const CancelRunsRequest = z
  .object({
    run_ids: z
      .array(z.string())
      .max(RUNS_MAX)
      .optional()
      .describe(`The ids of the runs, at most ${RUNS_MAX}.`),
    filter: RunFilter.optional(),
    expected: z
      .int()
      .min(0)
      .max(CANCELLED_TOGETHER_MAX)
      .optional()
      .describe(
        "With `filter`: how many runs that have not ended it matches. If the number differs by more than a tenth, nothing is " +
          "cancelled, and `matching_runs` of the 409 is the number.",
      ),
  })
  .superRefine(({ expected, filter, run_ids }, context) => {
    const isOne = (run_ids === undefined) !== (filter === undefined);
    if (!isOne) {
      context.addIssue({ code: "custom", path: ["run_ids"], message: "one of run_ids and filter is needed" });
    } else if ((filter === undefined) !== (expected === undefined)) {
      const message = filter === undefined ? "belongs to filter" : "is required";
      context.addIssue({ code: "custom", path: ["expected"], message });
    }
  })
  .meta({
    id: "CancelRunsRequest",
    description: "The runs to cancel: their ids, or a filter and the number of runs that it matches.",
    examples: [{ run_ids: [RUN_ID] }],
  });

const CancelStatusItem = z.enum(CANCEL_STATUSES).meta({
  id: "CancelStatus",
  description:
    "`cancelled`: this request cancelled the run. `already_cancelled`: it was cancelled before. `ended`: it had ended " +
    "in another state. `not_found`: it does not exist, or the caller cannot see it. `not_authorized`: a policy forbids it.",
  examples: ["cancelled"],
});

const CancelResult = z
  .object({ run_id: z.string().describe("The id as requested."), status: CancelStatusItem })
  .meta({
    id: "CancelResult",
    description: "The result for one run.",
    examples: [{ run_id: RUN_ID, status: "cancelled" }],
  });

const CancelRunsResponse = z
  .object({ results: z.array(CancelResult).describe("In the order of the request, or by age.") })
  .meta({
    id: "CancelRunsResponse",
    description: "The result for each requested run.",
    examples: [{ results: [{ run_id: RUN_ID, status: "cancelled" }] }],
  });

const config = { scope: "runs:write", describedHeaders: ["Idempotency-Key"] } as const;

const SCHEMA = {
  operationId: "cancelRuns",
  summary: "Cancel several runs",
  description:
    "The results are in the order of the request. A run that cannot be cancelled does not affect the others. A filter cancels " +
    `nothing unless the caller names the number of runs that it matches, at most ${CANCELLED_TOGETHER_MAX}.`,
  tags: ["runs"],
  body: CancelRunsRequest,
  response: { 200: CancelRunsResponse, ...problems(400, 401, 403, 409, 422, 503) },
};

export function cancelRunsRoutes(
  { runs }: Pick<ApiDeps, "runs">,
  idempotency: Idempotency,
): FastifyPluginAsyncZod {
  return async (app) => {
    app.post("/agent/runs/cancel", { schema: SCHEMA, config }, async (request, reply) => {
      const viewer = viewerOf(request);
      const { expected = 0, filter, run_ids: ids = [] } = request.body;
      return idempotency.writeOnce(request, reply, {
        operation: "runs.cancel-many",
        perform: async (storage) => {
          const service = runs.within(storage);
          if (filter !== undefined) {
            const found = await service.cancelMatching(filtersOf(filter), viewer, expected);
            return { results: [...found].map(([run_id, status]) => ({ run_id, status })) };
          }
          const known = ids.flatMap((text) => parseRunId(text) ?? []);
          const statuses = await service.cancelMany(known, viewer);
          return { results: ids.map((text) => ({ run_id: text, status: statusIn(statuses, text) })) };
        },
      });
    });
  };
}

/** No run can have an id that is not a UUID. */
function statusIn(statuses: ReadonlyMap<RunId, CancelStatus>, text: string): CancelStatus {
  const id = parseRunId(text);
  return (id && statuses.get(id)) ?? "not_found";
}

const INTERRUPT = {
  operationId: "interruptRun",
  summary: "End the current turn of a run",
  description:
    "The run does not end: the next waiting follow-up starts the next turn. Without one, the run is BLOCKED and waits for " +
    "instructions, without a limit of time. An open question is withdrawn. Allowed to those who may cancel the run. A run " +
    "without a turn is a conflict.",
  tags: ["runs"],
  params: RunParams,
  response: {
    202: z.object({}).meta({ id: "RunInterrupted", description: "The turn ends.", examples: [{}] }),
    ...problems(401, 403, 404, 409, 422, 503),
  },
};
const INTERRUPT_CONVERSATION = {
  ...INTERRUPT,
  operationId: "interruptConversation",
  summary: "End the current turn of the newest run of a conversation",
  tags: ["conversations"],
  params: ConversationParams,
  response: {
    ...INTERRUPT.response,
    202: z.object({ run_id: z.uuid().describe("The run whose turn ends.") }).meta({
      id: "ConversationInterrupted",
      description: "The turn ends.",
      examples: [{ run_id: RUN_ID }],
    }),
  },
};

export function interruptRoutes(
  { runs }: Pick<ApiDeps, "runs">,
  idempotency: Idempotency,
): FastifyPluginAsyncZod {
  return async (app) => {
    app.post("/agent/runs/:runId/interrupt", { schema: INTERRUPT, config }, async (request, reply) => {
      const id = requireRunId(request.params.runId);
      const viewer = viewerOf(request);
      return idempotency.writeRunOnce(request, reply, {
        operation: "runs.interrupt",
        target: id,
        status: 202,
        perform: async (extras) => ({ run: await runs.interrupt(id, viewer, extras) }),
        answer: () => ({}),
      });
    });
    const path = "/agent/conversations/:conversationId/interrupt";
    app.post(path, { schema: INTERRUPT_CONVERSATION, config }, async (request, reply) => {
      const { conversationId } = request.params;
      const viewer = viewerOf(request);
      return idempotency.writeRunOnce(request, reply, {
        operation: "conversations.interrupt",
        target: conversationId,
        status: 202,
        prepare: async () => {
          const { id } = await findContinued({ runs }, conversationId, viewer);
          return {
            perform: async (extras) => ({ run: await runs.interrupt(id, viewer, extras) }),
            answer: () => ({ run_id: id }),
          };
        },
      });
    });
  };
}

const ADDRESSES = [
  { path: "/agent/runs/:runId/cancel", operationId: "cancelRun", deprecated: false },
  { path: "/agent/tasks/:runId/cancel", operationId: "cancelTask", deprecated: true },
] as const;

const RESPONSE = { 200: z.string().describe("The run's id."), ...problems(400, 401, 404, 422, 503) };

export function cancelRunRoutes(
  { runs }: Pick<ApiDeps, "runs">,
  idempotency: Idempotency,
): FastifyPluginAsyncZod {
  return async (app) => {
    for (const { path, operationId, deprecated } of ADDRESSES) {
      const summary = "Cancel a run";
      const schema = {
        operationId,
        deprecated,
        summary,
        tags: ["runs"],
        params: RunParams,
        response: RESPONSE,
      };
      app.post(path, { schema, config }, async (request, reply) => {
        const id = requireRunId(request.params.runId);
        const viewer = viewerOf(request);
        const answer = await idempotency.writeRunOnce(request, reply, {
          operation: "runs.cancel",
          target: id,
          perform: async (extras) => ({
            run: await runs.cancel(id, viewer, extras),
            followUpId: undefined,
          }),
          answer: ({ run }): string => run.id,
        });
        // Fastify sends a string unchanged, but public clients expect a JSON string.
        return reply.type("application/json; charset=utf-8").send(JSON.stringify(answer));
      });
    }
  };
}
