import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import type { PrincipalId } from "../../core/basics/ids.ts";
import { SignInService } from "../../core/team/keys/sign-in-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { holderOf, viewerOf } from "../auth/authentication.ts";
import { requireId } from "../schemas/ids.ts";
import { problems } from "../schemas/problem.ts";
import { ListSignInsResponse, signInItem } from "../schemas/sign-in.ts";
import { PageQuery, WHOLE } from "./collection-pages.ts";
import type { Idempotency } from "./idempotency.ts";

type SignInRouteDeps = Pick<ApiDeps, "clock" | "storage">;

const tags = ["people"];
const reading = { scope: "any" } as const;
/** The scope that most keys of people have. */
const ending = { scope: "runs:write", describedHeaders: ["Idempotency-Key"], endsKeys: true } as const;

const LIST = {
  operationId: "listSignIns",
  summary: "List the sign-ins to the pages",
  tags,
  querystring: PageQuery,
  response: { 200: ListSignInsResponse, ...problems(401, 503) },
};
const END = {
  operationId: "endSignIn",
  summary: "Sign a browser out",
  description:
    "Ends one of the caller's own sign-ins; an administrator may end each one of the team. Nothing is written with it " +
    "any more, and the pages that it has open end.",
  tags,
  params: z.object({ signInId: z.string().describe("The sign-in's id.") }),
  response: { 204: z.null().describe("The sign-in has ended."), ...problems(400, 401, 403, 404, 503) },
};
const END_ALL = {
  operationId: "endPrincipalSignIns",
  summary: "Sign a principal out everywhere",
  description:
    "Ends all sign-ins of the caller; an administrator may end those of every principal of the team.",
  tags,
  params: z.object({ uid: z.string().describe("The principal's uid.") }),
  response: {
    204: z.null().describe("All sign-ins of the principal have ended."),
    ...problems(400, 401, 403, 404, 503),
  },
};

export function signInsRoutes(deps: SignInRouteDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  const { clock } = deps;
  const signIns = new SignInService(deps);
  return async (app) => {
    app.get(
      "/agent/sign-ins",
      { schema: LIST, config: { ...reading, collection: "sign_ins" } },
      async (request) => {
        const current = holderOf(request).signIn?.id;
        const open = await signIns.list(viewerOf(request));
        return { sign_ins: open.map((one) => signInItem(one, current)), ...WHOLE };
      },
    );
    app.delete("/agent/sign-ins/:signInId", { schema: END, config: ending }, async (request, reply) => {
      const [viewer, id] = [viewerOf(request), requireId(request.params.signInId, "sign-in")];
      return idempotency.writeOnce(request, reply, {
        operation: "sign-ins.end",
        target: id,
        status: 204,
        perform: async (storage) => {
          await new SignInService({ storage, clock }).end(viewer, id);
          return null;
        },
      });
    });
    app.delete(
      "/agent/principals/:uid/sign-ins",
      { schema: END_ALL, config: ending },
      async (request, reply) => {
        const viewer = viewerOf(request);
        const id = requireId<PrincipalId>(request.params.uid, "principal");
        return idempotency.writeOnce(request, reply, {
          operation: "sign-ins.end-all",
          target: id,
          status: 204,
          perform: async (storage) => {
            await new SignInService({ storage, clock }).endAllOf(viewer, id);
            return null;
          },
        });
      },
    );
  };
}
