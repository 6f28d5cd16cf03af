import type { FastifyReply, FastifyRequest, FastifySchema } from "fastify";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { Storage } from "../../core/ports/stores/storage.ts";
import { viewerOf } from "../auth/authentication.ts";
import { type ProblemStatus, problems } from "../schemas/problem.ts";
import { NoContent, SUCCESS, Success } from "../schemas/success.ts";
import { PageQuery, WHOLE } from "./collection-pages.ts";
import type { Idempotency, Write } from "./idempotency.ts";
import type { Body, Change, Operation, Resource } from "./resource.ts";

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
  const { actions = {}, create, extraRoutes, get, id, list, path, remove, replace, update } = resource;
  const handlers = new ResourceHandlers<Service, Row, Id>(storage, idempotency, resource);
  const options = optionsOf<Service, Row, Id>(resource);
  const one = `${path}/:${id.name}`;
  return async (app) => {
    app.get(path, options.list(list), handlers.list(list));
    if (get !== undefined) {
      app.get(one, options.get(get), handlers.get(get));
    }
    if (create !== undefined) {
      app.post(path, options.create(create), handlers.create(create));
    }
    if (replace !== undefined) {
      app.put(one, options.change(replace), handlers.change("replace", replace));
    }
    if (update !== undefined) {
      app.patch(one, options.change(update), handlers.change("update", update));
    }
    if (extraRoutes !== undefined) {
      await app.register(extraRoutes);
    }
    if (remove !== undefined) {
      app.delete(one, options.remove(remove), handlers.remove(remove));
    }
    for (const [verb, action] of Object.entries(actions)) {
      app.post(`${one}/${verb}`, options.change(action), handlers.change(verb, action));
    }
  };
}

type Described<Service, Row, Id> = Pick<
  Declared<Service, Row, Id>,
  "edited" | "id" | "item" | "neverStored" | "scopes" | "tags"
>;

/** The schema and the configuration of each kind of operation. */
function optionsOf<Service, Row, Id>({
  edited,
  id,
  item,
  neverStored,
  scopes,
  tags,
}: Described<Service, Row, Id>) {
  const named = { tags, ...defined({ params: id.params, querystring: id.querystring }) };
  const reading = { scope: scopes.read };
  const writing = ({ endsKeys }: Operation) => ({
    scope: scopes.write,
    describedHeaders: ["Idempotency-Key"],
    ...defined({ endsKeys }),
  });
  const one = defined({ edited, neverStored });
  return {
    list: (list: Declared<Service, Row, Id>["list"]) => {
      const querystring =
        list.querystring instanceof z.ZodObject ? list.querystring.extend(PageQuery.shape) : PageQuery;
      const schema = schemaOf(list, { 200: list.response }, { tags, querystring }, ALL_RECORDS);
      return { schema, config: { ...reading, collection: list.member } };
    },
    get: (get: Operation) => ({
      schema: schemaOf(get, { 200: item }, named, ONE_RECORD),
      config: { ...reading, ...one },
    }),
    create: (create: Kind<Service, Row, Id, "create">) => {
      const { body, status = 201 } = create;
      const schema = schemaOf(create, { [status]: item }, { tags, body }, ALL_RECORDS);
      return { schema, config: writing(create) };
    },
    change: (change: Operation & Partial<Body>) => {
      const body = change.body && { body: change.body };
      const schema = schemaOf(change, { 200: item }, { ...named, ...body }, ONE_RECORD);
      return { schema, config: { ...writing(change), ...one } };
    },
    remove: (remove: Kind<Service, Row, Id, "remove">) => {
      const { status = 200, response = status === 204 ? NoContent : Success } = remove;
      const schema = schemaOf(remove, { [status]: response }, named, ONE_RECORD);
      return { schema, config: { ...writing(remove), ...one } };
    },
  };
}

const ALL_RECORDS = [400, 401, 403, 503] as const;
const ONE_RECORD = [...ALL_RECORDS, 404] as const;

function schemaOf(
  { operationId, summary, description, problems: others = [], without = [] }: Operation,
  success: Readonly<Record<number, z.ZodType>>,
  input: FastifySchema,
  statuses: readonly ProblemStatus[],
): FastifySchema {
  return {
    operationId,
    summary,
    ...defined({ description }),
    ...input,
    response: {
      ...success,
      ...problems(...statuses.filter((status) => !without.includes(status)), ...others),
    },
  };
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;
type Declared<Service, Row, Id> = Resource<Service, Row, Id>;
type Shared<Service, Row, Id> = Pick<
  Declared<Service, Row, Id>,
  "get" | "id" | "items" | "name" | "path" | "serviceOn"
>;
type AnyChange<Service, Row, Id> = Change<Service, Row, Id> & Partial<Body>;
type Kind<Service, Row, Id, Name extends "create" | "get" | "remove"> = NonNullable<
  Declared<Service, Row, Id>[Name]
>;

/**
 * The handlers of one resource. The routes have already validated the requests by their schemas, which define the
 * types.
 */
class ResourceHandlers<Service, Row, Id> {
  readonly #storage: Storage;
  readonly #idempotency: Idempotency;
  readonly #resource: Shared<Service, Row, Id>;

  constructor(storage: Storage, idempotency: Idempotency, resource: Shared<Service, Row, Id>) {
    this.#storage = storage;
    this.#idempotency = idempotency;
    this.#resource = resource;
  }

  list({ member, run }: Declared<Service, Row, Id>["list"]): Handler {
    const { items, serviceOn } = this.#resource;
    const service = serviceOn(this.#storage);
    return async (request) => {
      const viewer = viewerOf(request);
      const rows = await run(service, viewer, request.query);
      return { [member]: await items(rows, { request, storage: this.#storage, viewer }), ...WHOLE };
    };
  }

  get({ run }: Kind<Service, Row, Id, "get">): Handler {
    const service = this.#resource.serviceOn(this.#storage);
    return async (request) => {
      const row = await run(service, viewerOf(request), this.#idOf(request));
      return this.#itemOf(row, this.#storage, request);
    };
  }

  create({
    check,
    hidesBody,
    run,
    status = 201,
    verb = "create",
  }: Kind<Service, Row, Id, "create">): Handler {
    return async (request, reply) => {
      const viewer = viewerOf(request);
      await check?.(request.body, viewer);
      return this.#idempotency.writeOnce(request, reply, {
        operation: this.#operation(verb),
        ...defined({ hidesBody }),
        status,
        perform: async (storage) =>
          this.#itemOf(await run(this.#resource.serviceOn(storage), viewer, request.body), storage, request),
      });
    };
  }

  change(kind: string, { check, hidesBody, run, verb = kind }: AnyChange<Service, Row, Id>): Handler {
    return async (request, reply) => {
      const viewer = viewerOf(request);
      await check?.(request.body, viewer);
      const id = this.#idOf(request);
      return this.#idempotency.writeOnce(request, reply, {
        operation: this.#operation(verb),
        ...defined({ hidesBody }),
        target: this.#resource.id.target(id),
        ...this.#current(request, id),
        perform: async (storage) =>
          this.#itemOf(
            await run(this.#resource.serviceOn(storage), viewer, id, request.body),
            storage,
            request,
          ),
      });
    };
  }

  remove({ run, status, verb = "delete" }: Kind<Service, Row, Id, "remove">): Handler {
    return async (request, reply) => {
      const [viewer, id] = [viewerOf(request), this.#idOf(request)];
      return this.#idempotency.writeOnce(request, reply, {
        operation: this.#operation(verb),
        target: this.#resource.id.target(id),
        ...defined({ status }),
        ...this.#current(request, id),
        perform: async (storage) => {
          await run(this.#resource.serviceOn(storage), viewer, id);
          return status === 204 ? null : SUCCESS;
        },
      });
    };
  }

  /** The name of an operation in stored idempotency keys. */
  #operation(verb: string): string {
    const { path, name = path.slice(path.lastIndexOf("/") + 1) } = this.#resource;
    return `${name}.${verb}`;
  }

  /** How a write reads the record before it changes it. */
  #current(request: FastifyRequest, id: Id): Pick<Write<unknown>, "current"> {
    const { get, serviceOn } = this.#resource;
    if (get === undefined) {
      return {};
    }
    const read = async (storage: Storage) =>
      this.#itemOf(await get.run(serviceOn(storage), viewerOf(request), id), storage, request);
    return { current: read };
  }

  #idOf({ params, query }: FastifyRequest): Id {
    const { id } = this.#resource;
    return id.parse(
      (params as Record<string, string>)[id.name] ?? "",
      query as Readonly<Record<string, unknown>>,
    );
  }

  async #itemOf(row: Row, storage: Storage, request: FastifyRequest): Promise<unknown> {
    const [item] = await this.#resource.items([row], { request, storage, viewer: viewerOf(request) });
    return item;
  }
}
