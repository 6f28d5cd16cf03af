import type { FastifySchema } from "fastify";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import type { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { Storage } from "../../core/ports/stores/storage.ts";
import { type ProblemStatus, problems } from "../schemas/problem.ts";
import { NoContent, Success } from "../schemas/success.ts";
import type { Idempotency } from "./idempotency.ts";
import type { Body, Operation, Resource } from "./resource.ts";
import { ResourceHandlers } from "./resource-handlers.ts";

/** The routes to list, get, create, replace, update and delete the records of one kind. */
export function resourceRoutes<
  Service,
  Row,
  Id,
  Query extends z.ZodType,
  Create extends z.ZodType,
  Replace extends z.ZodType,
  Update extends z.ZodType,
>(
  storage: Storage,
  idempotency: Idempotency,
  resource: Resource<Service, Row, Id, Query, Create, Replace, Update>,
): FastifyPluginAsyncZod {
  const { actions = {}, create, get, id, item, list, path, remove, replace, scopes, tags, update } = resource;
  const handlers = new ResourceHandlers<Service, Row, Id>(storage, idempotency, resource);
  const one = `${path}/:${id.name}`;
  const named = defined({ params: id.params, querystring: id.querystring });
  const reading = { scope: scopes.read };
  const config = { scope: scopes.write, describedHeaders: ["Idempotency-Key"] };
  const changing = (change: Operation & Partial<Body>) => {
    const body = change.body && { body: change.body };
    return { schema: schemaOf(change, { 200: item }, { tags, ...named, ...body }, ONE_RECORD), config };
  };
  return async (app) => {
    const query = list.querystring && { querystring: list.querystring };
    const listing = schemaOf(list, { 200: list.response }, { tags, ...query }, ALL_RECORDS);
    app.get(path, { schema: listing, config: reading }, handlers.list(list));
    const getting = schemaOf(get, { 200: item }, { tags, ...named }, ONE_RECORD);
    app.get(one, { schema: getting, config: reading }, handlers.get(get));
    if (create !== undefined) {
      const schema = schemaOf(create, { 201: item }, { tags, body: create.body }, ALL_RECORDS);
      app.post(path, { schema, config }, handlers.create(create));
    }
    if (replace !== undefined) {
      app.put(one, changing(replace), handlers.change("replace", replace));
    }
    if (update !== undefined) {
      app.patch(one, changing(update), handlers.change("update", update));
    }
    if (resource.extraRoutes !== undefined) {
      await app.register(resource.extraRoutes);
    }
    const removed = remove.status === 204 ? { 204: NoContent } : { 200: Success };
    const removing = schemaOf(remove, removed, { tags, ...named }, ONE_RECORD);
    app.delete(one, { schema: removing, config }, handlers.remove(remove));
    for (const [verb, action] of Object.entries(actions)) {
      app.post(`${one}/${verb}`, changing(action), handlers.change(verb, action));
    }
  };
}

const ALL_RECORDS = [400, 401, 403, 503] as const;
const ONE_RECORD = [...ALL_RECORDS, 404] as const;

function schemaOf(
  { operationId, summary, description, problems: others = [] }: Operation,
  success: Readonly<Record<number, z.ZodType>>,
  input: FastifySchema,
  statuses: readonly ProblemStatus[],
): FastifySchema {
  return {
    operationId,
    summary,
    ...defined({ description }),
    ...input,
    response: { ...success, ...problems(...statuses, ...others) },
  };
}
