import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import type { TeamId } from "../../core/basics/ids.ts";
import { auditContextOf } from "../../core/model/people/audit.ts";
import type { Storage } from "../../core/ports/stores/storage.ts";
import type { WorkflowTokens } from "../../core/ports/workflow-tokens.ts";
import { WorkflowKeys } from "../../core/team/keys/workflow-keys.ts";
import type { ApiDeps } from "../api-deps.ts";
import { makeKey } from "../auth/api-keys.ts";
import { ExchangeKeyRequest, IssuedKeyItem, issuedKeyItem } from "../schemas/api-key.ts";
import { requireId } from "../schemas/ids.ts";
import { problems } from "../schemas/problem.ts";

const EXCHANGE = {
  operationId: "exchangeKey",
  summary: "Get a key for a CI workflow",
  description:
    "Requires no key. The workflow sends the OpenID Connect token of its job, whose audience is the public URL of this " +
    "server. A policy with the condition `workflow` says which workflows get a key, and of which principal. The key " +
    "can start runs and read them, and ends within the hour. Workflows of pull requests get none.",
  tags: ["people"],
  body: ExchangeKeyRequest,
  response: { 201: IssuedKeyItem, ...problems(400, 401, 403, 429, 503) },
};

/** A repeated request makes another key, which ends as soon as the first one. */
export function keyExchangeRoutes(
  deps: Pick<ApiDeps, "clock" | "hashKey" | "loadWorkflowTokens" | "publicUrl" | "storage">,
): FastifyPluginAsyncZod {
  const { clock, hashKey, loadWorkflowTokens, publicUrl, storage } = deps;
  let loading: Promise<WorkflowTokens> | undefined;
  const keysOn = (stores: Storage) =>
    new WorkflowKeys({ storage: stores, clock, audience: publicUrl(), makeKey: () => makeKey(hashKey) });
  return async (app) => {
    const config = { public: true } as const;
    app.post("/agent/keys/exchange", { schema: EXCHANGE, config }, async (request, reply) => {
      const { expires_in: seconds, team_uid: uid, token } = request.body;
      const teamId = uid === undefined ? undefined : requireId<TeamId>(uid, "team");
      loading ??= loadWorkflowTokens();
      const proven = await (await loading).verify(token, await keysOn(storage).issuers());
      const holder = await keysOn(storage).principalFor(proven, teamId);
      const { actor, ...context } = auditContextOf(holder);
      const issued = await storage.atomically(
        (stores) => keysOn(stores).issue(holder, proven, seconds * 1_000),
        { ...context, actor: { ...actor, address: request.ip }, requestId: request.id },
      );
      return reply.code(201).send(issuedKeyItem(issued));
    });
  };
}
