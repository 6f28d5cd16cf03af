import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { AppError } from "../../core/errors.ts";
import { isOperator } from "../../core/people/principal.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { DoctorResponse, doctorResponse } from "../schemas/doctor.ts";
import { problems } from "../schemas/problem.ts";

const LOOK = {
  operationId: "getDoctor",
  summary: "Look whether the installation is as it should be",
  description:
    "For operators. Looks at the process that answers, the database, and the workers as they tell of themselves.",
  tags: ["operations"],
  response: { 200: DoctorResponse, ...problems(401, 403, 503) },
};

export function doctorRoutes({ doctor }: ApiDeps): FastifyPluginAsyncZod {
  const config = { scope: "admin", acceptsCookie: true } as const;
  return async (app) => {
    app.get("/agent/doctor", { schema: LOOK, config }, async (request) => {
      if (!isOperator(viewerOf(request)))
        throw new AppError("not_authorized", "This is for whoever runs the installation.");
      return doctorResponse(await doctor.examine());
    });
  };
}
