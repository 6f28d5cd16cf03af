import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { SecretService } from "../../core/secrets/secret-service.ts";
import type { Storage } from "../../core/storage.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import type { Idempotency } from "../http/idempotency.ts";
import { problems } from "../schemas/problem.ts";
import {
  ListSecretsResponse,
  PutSecretRequest,
  SecretItem,
  SecretParams,
  SecretQuery,
  secretItem,
} from "../schemas/secret.ts";
import { SUCCESS, Success } from "../schemas/success.ts";

const PATH = "/agent/secrets";
const tags = ["environments"];
const reading = { scope: "settings:read" } as const;
const writing = { scope: "settings:write", describedHeaders: ["Idempotency-Key"] } as const;

const LIST = {
  operationId: "listSecrets",
  summary: "List secrets, without their values",
  tags,
  response: { 200: ListSecretsResponse, ...problems(401, 403, 503) },
};
const GET = {
  operationId: "getSecret",
  summary: "Get a secret, without its value",
  tags,
  params: SecretParams,
  querystring: SecretQuery,
  response: { 200: SecretItem, ...problems(400, 401, 403, 404, 503) },
};
const PUT = {
  operationId: "putSecret",
  summary: "Set a secret",
  description:
    "It becomes an environment variable of runs that begin, or go on, from now on: the team's of all its runs, and your own " +
    "of those that you start, over the team's of that name. Whoever may write to a run can have its agent use them.",
  tags,
  params: SecretParams,
  body: PutSecretRequest,
  response: { 200: SecretItem, ...problems(400, 401, 403, 503) },
};
const REMOVE = {
  operationId: "deleteSecret",
  summary: "Delete a secret",
  description: "Agents that are at work keep it until they have ended.",
  tags,
  params: SecretParams,
  querystring: SecretQuery,
  response: { 200: Success, ...problems(400, 401, 403, 404, 503) },
};

export function secretRoutes(deps: ApiDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  const { clock, secrets: box, storage: wholeStorage } = deps;
  const within = ({ secrets }: Storage) => new SecretService({ secrets, box, clock });
  const all = within(wholeStorage);
  return async (app) => {
    app.get(PATH, { schema: LIST, config: reading }, async (request) => ({
      secrets: (await all.list(viewerOf(request))).map(secretItem),
    }));
    app.get(`${PATH}/:name`, { schema: GET, config: reading }, async (request) => {
      const key = { name: request.params.name, isTeamOwned: request.query.team === "true" };
      return secretItem(await all.get(viewerOf(request), key));
    });
    app.put(`${PATH}/:name`, { schema: PUT, config: writing }, async (request, reply) => {
      const { team = true, value } = request.body;
      const key = { name: request.params.name, isTeamOwned: team };
      return idempotency.writeOnce(request, reply, {
        operation: "secrets.put",
        target: key.name,
        hidesBody: true,
        perform: async (storage) => secretItem(await within(storage).put(viewerOf(request), key, value)),
      });
    });
    app.delete(`${PATH}/:name`, { schema: REMOVE, config: writing }, async (request, reply) => {
      const { team } = request.query;
      const key = { name: request.params.name, isTeamOwned: team === "true" };
      return idempotency.writeOnce(request, reply, {
        operation: "secrets.delete",
        target: `${team} ${key.name}`,
        perform: async (storage) => {
          await within(storage).remove(viewerOf(request), key);
          return SUCCESS;
        },
      });
    });
  };
}
