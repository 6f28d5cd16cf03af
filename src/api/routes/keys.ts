import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { PrincipalId } from "../../core/basics/ids.ts";
import type { KeyHolder } from "../../core/model/people/api-key.ts";
import type { Storage } from "../../core/ports/stores/storage.ts";
import { KeyService, type NewKey } from "../../core/team/keys/key-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { makeKey } from "../auth/api-keys.ts";
import { holderOf } from "../auth/authentication.ts";
import { only } from "../http/entity-tags.ts";
import {
  CreateKeyRequest,
  IssuedKeyItem,
  issuedKeyItem,
  KeyItem,
  keyItem,
  ListKeysResponse,
  RevokedKeys,
  RotateKeyRequest,
  UpdateKeyRequest,
} from "../schemas/api-key.ts";
import { requireId } from "../schemas/ids.ts";
import { problems } from "../schemas/problem.ts";
import { SUCCESS, Success } from "../schemas/success.ts";
import { PageQuery, WHOLE } from "./collection-pages.ts";
import type { Idempotency } from "./idempotency.ts";

type KeyDeps = Pick<ApiDeps, "clock" | "hashKey" | "storage">;

const tags = ["people"];
const reading = { scope: "settings:read" } as const;
const edited = only("name", "expires_at", "revoked_at");
const writing = { scope: "settings:write", describedHeaders: ["Idempotency-Key"] } as const;
const ending = { ...writing, endsKeys: true } as const;

const params = z.object({ keyId: z.string().describe("The key's id.") });
const querystring = PageQuery.extend({
  principal: z.string().optional().describe("Only the keys of the principal with this uid."),
});

const LIST = {
  operationId: "listKeys",
  summary: "List keys",
  tags,
  querystring,
  response: { 200: ListKeysResponse, ...problems(400, 401, 403, 503) },
};
const CREATE = {
  operationId: "createKey",
  summary: "Create a key",
  description:
    "Only this response contains the key itself. A key cannot allow more than the key that creates it.",
  tags,
  body: CreateKeyRequest,
  response: { 201: IssuedKeyItem, ...problems(400, 401, 403, 404, 503) },
};
const GET = {
  operationId: "getKey",
  summary: "Get a key",
  tags,
  params,
  response: { 200: KeyItem, ...problems(401, 403, 404, 503) },
};
const UPDATE = {
  operationId: "updateKey",
  summary: "Rename a key or change its expiry",
  tags,
  params,
  body: UpdateKeyRequest,
  response: { 200: KeyItem, ...problems(400, 401, 403, 404, 503) },
};
const REVOKE = {
  operationId: "revokeKey",
  summary: "Revoke a key",
  description:
    "The key stops working at once, and so does every session of the pages that it signed in to. Keys that were created " +
    "with it keep working, unless `descendants` is true.",
  tags,
  params,
  querystring: z.object({
    descendants: z
      .enum(["true", "false"])
      .optional()
      .describe("Whether to revoke also all keys that were created with it, with one of those, and so on."),
  }),
  response: { 200: Success, ...problems(400, 401, 403, 404, 503) },
};
const REVOKE_ALL = {
  operationId: "revokeKeysOfPrincipal",
  summary: "Revoke all keys of a principal",
  description:
    "For the principal itself and for administrators. Programs with an approved device code get no key any more. The " +
    "server's own key stays.",
  tags,
  params: z.object({ uid: z.string().describe("The principal's uid.") }),
  response: { 200: RevokedKeys, ...problems(400, 401, 403, 404, 503) },
};
const ROTATE = {
  operationId: "rotateKey",
  summary: "Replace a key",
  description:
    "The new key has the same name, scopes and expiry. Only this response contains the key itself.",
  tags,
  params,
  body: RotateKeyRequest.default({ overlap_seconds: 0 }),
  response: { 201: IssuedKeyItem, ...problems(400, 401, 403, 404, 503) },
};

export function keyRoutes(deps: KeyDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  return async (app) => {
    await app.register(readRoutes(deps));
    await app.register(changeRoutes(deps, idempotency));
    await app.register(revokeAllRoute(deps, idempotency));
    await app.register(issueRoutes(deps, idempotency));
  };
}

/** Returns the service on all stores, or on those of one transaction. */
function serviceOn({ clock, hashKey }: Pick<ApiDeps, "clock" | "hashKey">, storage: Storage): KeyService {
  return new KeyService({ storage, clock, makeKey: () => makeKey(hashKey) });
}

function readRoutes(deps: KeyDeps): FastifyPluginAsyncZod {
  const keys = serviceOn(deps, deps.storage);
  return async (app) => {
    app.get("/agent/keys", { schema: LIST, config: { ...reading, collection: "keys" } }, async (request) => {
      const { principal } = request.query;
      const whose = principal?.toLowerCase() as PrincipalId | undefined;
      return { keys: (await keys.list(holderOf(request), whose)).map(keyItem), ...WHOLE };
    });
    app.get("/agent/keys/:keyId", { schema: GET, config: { ...reading, edited } }, async (request) =>
      keyItem(await keys.get(holderOf(request), requireKeyId(request.params))),
    );
  };
}

function changeRoutes(deps: KeyDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  const read = (caller: KeyHolder, id: string) => async (storage: Storage) =>
    keyItem(await serviceOn(deps, storage).get(caller, id));
  return async (app) => {
    app.patch(
      "/agent/keys/:keyId",
      { schema: UPDATE, config: { ...ending, edited } },
      async (request, reply) => {
        const [caller, id] = [holderOf(request), requireKeyId(request.params)];
        const { name, expires_at } = request.body;
        const changes = defined({
          name,
          expiresAt: expires_at === undefined ? undefined : new Date(expires_at),
        });
        return idempotency.writeOnce(request, reply, {
          operation: "keys.update",
          target: id,
          current: read(caller, id),
          perform: async (storage) => keyItem(await serviceOn(deps, storage).change(caller, id, changes)),
        });
      },
    );
    app.delete(
      "/agent/keys/:keyId",
      { schema: REVOKE, config: { ...ending, edited } },
      async (request, reply) => {
        const [caller, id] = [holderOf(request), requireKeyId(request.params)];
        const descendants = request.query.descendants === "true";
        return idempotency.writeOnce(request, reply, {
          operation: descendants ? "keys.revokeWithDescendants" : "keys.revoke",
          target: id,
          current: read(caller, id),
          perform: async (storage) => {
            await serviceOn(deps, storage).revoke(caller, id, { descendants });
            return SUCCESS;
          },
        });
      },
    );
  };
}

function revokeAllRoute(deps: KeyDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  return async (app) => {
    app.delete(
      "/agent/principals/:uid/keys",
      { schema: REVOKE_ALL, config: ending },
      async (request, reply) => {
        const [caller, id] = [holderOf(request), requireId<PrincipalId>(request.params.uid, "principal")];
        return idempotency.writeOnce(request, reply, {
          operation: "keys.revokeAll",
          target: id,
          perform: async (storage) => ({ revoked: await serviceOn(deps, storage).revokeAllOf(caller, id) }),
        });
      },
    );
  };
}

function issueRoutes(deps: KeyDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  const issuing = { status: 201, isSecret: true };
  return async (app) => {
    app.post("/agent/keys", { schema: CREATE, config: writing }, async (request, reply) => {
      const caller = holderOf(request);
      const newKey = newKeyOf(request.body, deps.clock.now());
      return idempotency.writeOnce(request, reply, {
        ...issuing,
        operation: "keys.create",
        perform: async (storage) => issuedKeyItem(await serviceOn(deps, storage).create(caller, newKey)),
      });
    });
    app.post("/agent/keys/:keyId/rotate", { schema: ROTATE, config: ending }, async (request, reply) => {
      const [caller, id] = [holderOf(request), requireKeyId(request.params)];
      const overlapMs = request.body.overlap_seconds * 1_000;
      return idempotency.writeOnce(request, reply, {
        ...issuing,
        operation: "keys.rotate",
        target: id,
        perform: async (storage) =>
          issuedKeyItem(await serviceOn(deps, storage).rotate(caller, id, overlapMs)),
      });
    });
  };
}

const DAY_MS = 24 * 60 * 60 * 1_000;

function newKeyOf(request: CreateKeyRequest, now: Date): NewKey {
  const { expires_at, expires_in_days, name, principal_uid, scopes } = request;
  const inDays = expires_in_days === undefined ? undefined : now.getTime() + expires_in_days * DAY_MS;
  const end = expires_at ?? inDays;
  return defined({
    name,
    scopes: [...new Set(scopes)],
    expiresAt: end === undefined ? undefined : new Date(end),
    principalId: principal_uid === undefined ? undefined : requireId<PrincipalId>(principal_uid, "principal"),
  });
}

function requireKeyId({ keyId }: z.output<typeof params>): string {
  return requireId(keyId, "key");
}
