import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { CHECK_STATUSES, type NamedFinding, statusOf } from "../../core/ports/check.ts";
import type { ApiDeps } from "../api-deps.ts";
import { requireOperator } from "../auth/authentication.ts";
import { problems } from "../schemas/problem.ts";

const EXAMPLE = {
  name: "workers",
  status: "fail",
  message: "No worker is alive, so no run is worked on.",
  remedy: "Start a process with ERRAND_ROLE=worker or all.",
} as const;

const Status = z.enum(CHECK_STATUSES);

const DoctorCheck = z
  .object({
    name: z.string().describe("The name of the check."),
    status: Status.describe(
      "`fail`: something does not work. `warn`: something may soon fail or is not safe.",
    ),
    message: z.string().describe("The result of the check."),
    remedy: z.string().optional().describe("How to fix the problem."),
  })
  .meta({ id: "DoctorCheck", description: "One check of the server.", examples: [EXAMPLE] });

const DoctorResponse = z
  .object({
    status: Status.describe("The worst status of all checks."),
    checks: z.array(DoctorCheck).describe("The results of all checks, made now by the process that answers."),
  })
  .meta({
    id: "DoctorResponse",
    description: "The health of the server.",
    examples: [{ status: "fail", checks: [EXAMPLE] }],
  });

function doctorResponse(findings: readonly NamedFinding[]): z.output<typeof DoctorResponse> {
  return { status: statusOf(findings), checks: findings.map((finding) => ({ ...finding })) };
}

const GET = {
  operationId: "getDoctor",
  summary: "Check the server",
  description:
    "For operators. Checks the process that answers, the database, and the workers, by their last reports.",
  tags: ["operations"],
  response: { 200: DoctorResponse, ...problems(401, 403, 503) },
};

export function doctorRoutes({ doctor }: Pick<ApiDeps, "doctor">): FastifyPluginAsyncZod {
  const config = { scope: "admin" } as const;
  return async (app) => {
    app.get("/agent/doctor", { schema: GET, config }, async (request) => {
      requireOperator(request);
      return doctorResponse(await doctor.examine());
    });
  };
}
