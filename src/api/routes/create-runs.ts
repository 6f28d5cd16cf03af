import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { ApiDeps } from "../api-deps.ts";
import { type ApiLimits, limitsOf } from "../http/api-limits.ts";
import { loggedProblem } from "../http/error-answers.ts";
import { ignoredMembersOf } from "../http/ignored-members.ts";
import { compileValidator, validated } from "../http/request-validation.ts";
import { problems } from "../schemas/problem.ts";
import {
  CREATED_TOGETHER_MAX,
  CreateRunsRequest,
  CreateRunsResponse,
  RunOfBatch,
} from "../schemas/run-batch.ts";
import { createWrite } from "./create-run.ts";
import type { Idempotency, PreparedWrite, RunOperation } from "./idempotency.ts";

const OPERATION = "runs.create-many";
const SCHEMA = {
  operationId: "createRuns",
  summary: "Start several runs",
  description:
    "Each entry is accepted or refused as if it were a request of its own. The results are in the order of the request. " +
    "With an `Idempotency-Key`, or a key in each entry, a repeat starts only what was not started before.",
  tags: ["runs"],
  body: CreateRunsRequest,
  response: { 200: CreateRunsResponse, ...problems(400, 401, 403, 409, 413, 422, 429, 503) },
};
const config = { scope: "runs:write", describedHeaders: ["Idempotency-Key", "X-Run-Source"] } as const;

/** What the request as a whole must be. Its entries are checked one by one, so that a bad one does not refuse the others. */
const Envelope = z.object({ runs: z.array(z.unknown()).min(1).max(CREATED_TOGETHER_MAX) });
type Envelope = z.output<typeof Envelope>;
type Result = CreateRunsResponse["results"][number];
type Write = RunOperation & PreparedWrite<Omit<Result, "error">>;

export function createRunsRoutes(deps: ApiDeps, idempotency: Idempotency): FastifyPluginAsync {
  const limits = limitsOf(deps.limits);
  return async (app) => {
    const validatorCompiler = () => (body: unknown) => validated(Envelope, body ?? undefined);
    const options = { schema: SCHEMA, config, validatorCompiler };
    app.post<{ Body: Envelope }>("/agent/runs/batch", options, async (request, reply) => {
      const key = await idempotency.claim(request, reply, OPERATION);
      const writes: (() => Write)[] = [];
      for (const [index, body] of request.body.runs.entries()) {
        const entry = { body, index, key };
        writes.push(await settled(() => preparedWrite(deps, request, entry, limits)));
      }
      // At once, because runs that arrive together are stored by one statement.
      const results = await Promise.all(
        writes.map((write) => settled(async () => idempotency.writeRunOnce(request, undefined, write()))),
      );
      return { results: results.map((result, index) => resultOf(deps, request, result, index)) };
    });
  };
}

interface Entry {
  readonly body: unknown;
  readonly index: number;
  /** The key of the whole request. */
  readonly key: string | undefined;
}

const validateEntry = compileValidator({ schema: RunOfBatch });

/** The write of one entry. Its preparation has begun, unless that stores files, which a repeat would store again. */
async function preparedWrite(
  deps: ApiDeps,
  request: FastifyRequest,
  { body, index, key }: Entry,
  limits: ApiLimits,
): Promise<Write> {
  const validation = validateEntry(body);
  if ("error" in validation) {
    throw validation.error;
  }
  const { idempotency_key, ...run } = validation.value;
  const ignoredMembers = ignoredMembersOf(RunOfBatch, body);
  const write = createWrite(deps, request, { body: run, ignoredMembers, isOfBatch: true }, limits);
  const own = { part: { body: run, key: idempotency_key } };
  // Keys of a batch are apart from those of single runs, because an index belongs to them.
  const ofBatch = { operation: OPERATION, part: { body: run, key: key && `${index} ${key}` } };
  const keyed = { ...write, ...(idempotency_key === undefined ? ofBatch : own) };
  if (write.isAtomic !== true) {
    return keyed;
  }
  const prepared = await settled(write.prepare);
  return { ...keyed, prepare: async () => prepared() };
}

/** Returns a function that returns the value, or throws the error, of `work`. */
async function settled<Value>(work: () => Promise<Value>): Promise<() => Value> {
  try {
    const value = await work();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

function resultOf(
  deps: Pick<ApiDeps, "log" | "publicUrl">,
  request: FastifyRequest,
  result: () => Result,
  index: number,
): Result {
  try {
    return result();
  } catch (thrown) {
    const { issues, ...problem } = loggedProblem(deps, thrown, request).problem;
    const placed = issues?.map(({ message, path, pointer = "" }) => ({
      message,
      path: path === "" ? `runs.${index}` : `runs.${index}.${path}`,
      pointer: `/runs/${index}${pointer}`,
    }));
    return { error: { ...problem, ...defined({ issues: placed }) } };
  }
}
