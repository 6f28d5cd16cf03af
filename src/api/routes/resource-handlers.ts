import type { FastifyReply, FastifyRequest } from "fastify";
import { defined } from "../../core/basics/defined.ts";
import type { Viewer } from "../../core/model/people/principal.ts";
import type { Storage } from "../../core/ports/stores/storage.ts";
import { viewerOf } from "../auth/authentication.ts";
import { SUCCESS } from "../schemas/success.ts";
import type { Idempotency } from "./idempotency.ts";
import type { Body, Change, Resource } from "./resource.ts";

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;
type Declared<Service, Row, Id> = Resource<Service, Row, Id>;

/**
 * The handlers of one resource. The routes have already validated the requests by their schemas, which define the
 * types.
 */
export class ResourceHandlers<Service, Row, Id> {
  readonly #storage: Storage;
  readonly #idempotency: Idempotency;
  readonly #resource: Pick<Declared<Service, Row, Id>, "id" | "items" | "path" | "serviceOn">;

  constructor(
    storage: Storage,
    idempotency: Idempotency,
    resource: Pick<Declared<Service, Row, Id>, "id" | "items" | "path" | "serviceOn">,
  ) {
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
      return { [member]: await items(rows, { storage: this.#storage, viewer }) };
    };
  }

  get({ run }: Declared<Service, Row, Id>["get"]): Handler {
    const service = this.#resource.serviceOn(this.#storage);
    return async (request) => {
      const viewer = viewerOf(request);
      return this.#itemOf(await run(service, viewer, this.#idOf(request)), this.#storage, viewer);
    };
  }

  create({ check, hidesBody, run }: NonNullable<Declared<Service, Row, Id>["create"]>): Handler {
    return async (request, reply) => {
      const viewer = viewerOf(request);
      await check?.(request.body, viewer);
      return this.#idempotency.writeOnce(request, reply, {
        operation: this.#operation("create"),
        ...defined({ hidesBody }),
        status: 201,
        perform: async (storage) =>
          this.#itemOf(await run(this.#resource.serviceOn(storage), viewer, request.body), storage, viewer),
      });
    };
  }

  change(verb: string, { check, hidesBody, run }: Change<Service, Row, Id> & Partial<Body>): Handler {
    return async (request, reply) => {
      const viewer = viewerOf(request);
      await check?.(request.body, viewer);
      const id = this.#idOf(request);
      return this.#idempotency.writeOnce(request, reply, {
        operation: this.#operation(verb),
        ...defined({ hidesBody }),
        target: this.#resource.id.target(id),
        perform: async (storage) =>
          this.#itemOf(
            await run(this.#resource.serviceOn(storage), viewer, id, request.body),
            storage,
            viewer,
          ),
      });
    };
  }

  remove({ run, status: other }: Declared<Service, Row, Id>["remove"]): Handler {
    const status = other ?? 200;
    return async (request, reply) => {
      const [viewer, id] = [viewerOf(request), this.#idOf(request)];
      return this.#idempotency.writeOnce(request, reply, {
        operation: this.#operation("delete"),
        target: this.#resource.id.target(id),
        status,
        perform: async (storage) => {
          await run(this.#resource.serviceOn(storage), viewer, id);
          return status === 204 ? null : SUCCESS;
        },
      });
    };
  }

  /** The name of an operation in stored idempotency keys. */
  #operation(verb: string): string {
    const { path } = this.#resource;
    return `${path.slice(path.lastIndexOf("/") + 1)}.${verb}`;
  }

  #idOf({ params, query }: FastifyRequest): Id {
    const { id } = this.#resource;
    return id.parse(
      (params as Record<string, string>)[id.name] ?? "",
      query as Readonly<Record<string, unknown>>,
    );
  }

  async #itemOf(row: Row, storage: Storage, viewer: Viewer): Promise<unknown> {
    const [item] = await this.#resource.items([row], { storage, viewer });
    return item;
  }
}
