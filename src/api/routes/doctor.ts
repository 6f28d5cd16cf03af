import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import type { ApiDeps } from "../api-deps.ts";
import { requireOperator } from "../auth/authentication.ts";
import { DoctorResponse, doctorResponse } from "../schemas/doctor.ts";
import { problems } from "../schemas/problem.ts";

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
