import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { defined } from "../../core/basics/defined.ts";
import type { ApiKey } from "../../core/model/people/api-key.ts";
import { isOperator } from "../../core/model/people/principal.ts";
import { TeamService } from "../../core/team/people/team-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { holderOf, viewerOf } from "../auth/authentication.ts";
import { principalItem } from "../schemas/principal.ts";
import { problems } from "../schemas/problem.ts";
import { signInItem } from "../schemas/sign-in.ts";
import { Whoami } from "../schemas/whoami.ts";

const schema = {
  operationId: "whoami",
  summary: "Get the caller and its rights",
  tags: ["people"],
  response: { 200: Whoami, ...problems(401, 503) },
};
const config = { scope: "any" } as const;

export function whoamiRoutes(deps: ApiDeps): FastifyPluginAsyncZod {
  const teams = new TeamService(deps);
  return async (app) => {
    app.get("/agent/whoami", { schema, config }, async (request) => {
      const { key, principal, scopes, signIn } = holderOf(request);
      const viewer = viewerOf(request);
      const { id, name } = await teams.get(viewer, viewer.teamId);
      return {
        principal: principalItem(principal, viewer),
        team: { uid: id, name },
        scopes: [...scopes],
        ...defined({
          key: key ? keyOf(key) : undefined,
          sign_in: signIn ? signInItem(signIn, signIn.id) : undefined,
        }),
        is_administrator: viewer.administrator,
        is_operator: isOperator(viewer),
      };
    });
  };
}

function keyOf({ expiresAt, hint, id, name, scopes }: ApiKey): NonNullable<Whoami["key"]> {
  const end = expiresAt === undefined ? {} : { expires_at: expiresAt.toISOString() };
  return { id, name, hint, scopes: [...scopes], ...end };
}
