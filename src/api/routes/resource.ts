import type { FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import type { Scope } from "../../core/model/people/api-key.ts";
import type { Viewer } from "../../core/model/people/principal.ts";
import type { Storage } from "../../core/ports/stores/storage.ts";
import type { EditedPart } from "../http/entity-tags.ts";
import { requireId } from "../schemas/ids.ts";
import type { ProblemStatus } from "../schemas/problem.ts";

/**
 * One kind of a team's records, declared as data for `resourceRoutes`. Handlers, status codes, error responses and
 * idempotency follow from the declaration. An operation that is left out has no route.
 */
export interface Resource<
  Service,
  Row,
  Id = string,
  Query extends z.ZodType = z.ZodType,
  Create extends z.ZodType = z.ZodType,
  Replace extends z.ZodType = z.ZodType,
  Update extends z.ZodType = z.ZodType,
> {
  /** Below `/api/v1`. */
  readonly path: string;
  /** The name of the resource in stored idempotency keys. Default: the last segment of `path`. */
  readonly name?: string;
  readonly tags: readonly string[];
  readonly scopes: { readonly read: Scope; readonly write: Scope };
  readonly id: ResourceId<Id>;
  /** Takes all stores for a read, and the stores of one transaction for a write. */
  serviceOn(storage: Storage): Service;
  /** The schema of one record in a response. */
  readonly item: z.ZodType;
  /** Maps records to `item`, all records of a list in one call. */
  items(rows: readonly Row[], context: ItemContext): Promise<readonly unknown[]> | readonly unknown[];
  /** What of an item only callers change: the version that `If-Match` compares. */
  readonly edited?: EditedPart;
  /** No browser may keep an answer. */
  readonly neverStored?: boolean;
  readonly list: Operation & {
    /** The member of the response that holds the records. */
    readonly member: string;
    readonly response: z.ZodType;
    readonly querystring?: Query;
    run(service: Service, viewer: Viewer, query: z.output<Query>): Promise<readonly Row[]>;
  };
  readonly get?: Operation & { run(service: Service, viewer: Viewer, id: Id): Promise<Row> };
  readonly create?: Operation &
    Body<Create> & {
      /** The status of the response. Default: 201. */
      readonly status?: 200 | 201;
      run(service: Service, viewer: Viewer, body: z.output<Create>): Promise<Row>;
    };
  /** By PUT. */
  readonly replace?: Change<Service, Row, Id, Replace> & Body<Replace>;
  /** By PATCH. */
  readonly update?: Change<Service, Row, Id, Update> & Body<Update>;
  /** Routes that cannot be declared. They are registered before DELETE, so that the document has the usual order. */
  readonly extraRoutes?: FastifyPluginAsyncZod;
  readonly remove?: Operation & {
    /** The status of the response, which has no content with 204. Default: 200. */
    readonly status?: 204;
    /** What the document says about the response. */
    readonly response?: z.ZodType;
    run(service: Service, viewer: Viewer, id: Id): Promise<unknown>;
  };
  /** Each is a POST without a body to `{path}/{id}/{name of the action}`. */
  readonly actions?: Readonly<Record<string, Change<Service, Row, Id>>>;
}

/** What one operation says in the OpenAPI document, and how it differs from others of its kind. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** Error statuses, besides those that each operation of its kind has. */
  readonly problems?: readonly ProblemStatus[];
  /** Error statuses that each operation of its kind has, and this one has not. */
  readonly without?: readonly ProblemStatus[];
  /** Its name in stored idempotency keys, behind that of the resource. Default: the name of its kind. */
  readonly verb?: string;
  /** It may end keys or sign-ins, so what is known of them is read again afterwards. */
  readonly endsKeys?: boolean;
}

/** A write to one record whose response is the record. */
export interface Change<Service, Row, Id, Schema extends z.ZodType = z.ZodType> extends Operation {
  run(service: Service, viewer: Viewer, id: Id, body: z.output<Schema>): Promise<Row>;
}

export interface Body<Schema extends z.ZodType = z.ZodType> {
  readonly body: Schema;
  /** The body contains a secret, so the hash that is stored of it must not allow guessing it. */
  readonly hidesBody?: boolean;
  /** Throws for what the schema cannot check. Called before the id and the idempotency key are read, outside of the
   * transaction. */
  check?(body: z.output<Schema>, viewer: Viewer): void | Promise<void>;
}

export interface ItemContext {
  readonly request: FastifyRequest;
  readonly storage: Storage;
  readonly viewer: Viewer;
}

/** How a request names one record. */
export interface ResourceId<Id> {
  /** The one path parameter. */
  readonly name: string;
  readonly params: z.ZodObject;
  readonly querystring?: z.ZodObject;
  /** Throws the 404 of an unknown record if no record can have this id. */
  parse(value: string, query: Readonly<Record<string, unknown>>): Id;
  /** A part of the hash by which a repeat with the same `Idempotency-Key` is recognised. */
  target(id: Id): string;
}

export function textId(name: string, description: string): ResourceId<string> {
  const params = z.object({ [name]: z.string().describe(description) });
  return { name, params, parse: (value) => value, target: (id) => id };
}

/** `noun` names the record in the message of a 404. */
export function uuidId<Id extends string = string>(
  name: string,
  noun: string,
  description = `The ${noun}'s id.`,
): ResourceId<Id> {
  return { ...textId(name, description), parse: (value) => requireId<Id>(value, noun) };
}
