import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import type { Secret } from "../../core/model/secrets/secret.ts";
import type { Storage } from "../../core/ports/stores/storage.ts";
import { type SecretKey, SecretService } from "../../core/team/records/secret-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { only } from "../http/entity-tags.ts";
import { problems } from "../schemas/problem.ts";
import {
  ListSecretsResponse,
  PutSecretRequest,
  SecretItem,
  SecretParams,
  SecretQuery,
  secretItem,
} from "../schemas/secret.ts";
import type { Idempotency } from "./idempotency.ts";
import type { ResourceId } from "./resource.ts";
import { resourceRoutes } from "./resource-routes.ts";

const PATH = "/agent/secrets";
const tags = ["environments"];
const edited = only("updated_at");
const writing = { scope: "settings:write", describedHeaders: ["Idempotency-Key"] } as const;

const PUT = {
  operationId: "putSecret",
  summary: "Set a secret",
  description:
    "The secret becomes an environment variable of runs that start or continue from now on. A team secret " +
    "applies to all runs of the team. Your own secret applies to the runs that you start, and takes precedence " +
    "over the team's secret of the same name. Everyone who may write to a run can make its agent use these " +
    "secrets. All secrets of a team can have at most 768 KiB together, and your own 256 KiB.",
  tags,
  params: SecretParams,
  body: PutSecretRequest,
  response: { 200: SecretItem, ...problems(400, 401, 403, 503) },
};

export function secretRoutes(
  { clock, secrets: box, storage }: Pick<ApiDeps, "clock" | "secrets" | "storage">,
  idempotency: Idempotency,
): FastifyPluginAsyncZod {
  const serviceOn = (stores: Storage) => new SecretService({ storage: stores, box, clock });
  const putRoute: FastifyPluginAsyncZod = async (app) => {
    app.put(`${PATH}/:name`, { schema: PUT, config: { ...writing, edited } }, async (request, reply) => {
      const { team = true, value } = request.body;
      const key = { name: request.params.name, isTeamOwned: team };
      return idempotency.writeOnce(request, reply, {
        operation: "secrets.put",
        target: key.name,
        lock: `secrets ${secretId.target(key)}`,
        hidesBody: true,
        current: async (stores) => secretItem(await serviceOn(stores).get(viewerOf(request), key)),
        perform: async (stores) => secretItem(await serviceOn(stores).put(viewerOf(request), key, value)),
      });
    });
  };
  return resourceRoutes(storage, idempotency, {
    path: PATH,
    tags,
    scopes: { read: "settings:read", write: writing.scope },
    id: secretId,
    serviceOn,
    item: SecretItem,
    items: (rows: readonly Secret[]) => rows.map(secretItem),
    edited,
    neverStored: true,
    list: {
      operationId: "listSecrets",
      summary: "List secrets, without their values",
      member: "secrets",
      response: ListSecretsResponse,
      run: (service, viewer) => service.list(viewer),
    },
    get: {
      operationId: "getSecret",
      summary: "Get a secret, without its value",
      run: (service, viewer, key) => service.get(viewer, key),
    },
    extraRoutes: putRoute,
    remove: {
      operationId: "deleteSecret",
      summary: "Delete a secret",
      description: "Agents that are working keep the secret until they end.",
      run: (service, viewer, key) => service.remove(viewer, key),
    },
  });
}

/** A name belongs to one secret of the team and to one of each principal. */
const secretId: ResourceId<SecretKey> = {
  name: "name",
  params: SecretParams,
  querystring: SecretQuery,
  parse: (name, { team }) => ({ name, isTeamOwned: team === "true" }),
  target: ({ isTeamOwned, name }) => `${isTeamOwned} ${name}`,
};
