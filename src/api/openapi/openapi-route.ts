import type { RouteOptions } from "fastify";
import { jsonSchemaTransform } from "fastify-type-provider-zod";
import { z } from "zod";
import type { ProblemStatus } from "../schemas/problem.ts";
import { OPTIONAL_BODY } from "./openapi-responses.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Request headers that the route reads, for the OpenAPI document. */
    readonly describedHeaders?: readonly string[];
  }
}

type Route = Parameters<typeof jsonSchemaTransform>[0];
type Described = ReturnType<typeof jsonSchemaTransform>;

const IDEMPOTENCY_KEY = "Idempotency-Key";
const REQUEST_ID = "X-Request-Id";
const HEADERS: Readonly<Record<string, string>> = {
  [IDEMPOTENCY_KEY]:
    "Makes a repeat safe: for 24 hours, the same key with the same request returns the first response.",
  "If-Match":
    "The ETag of the version that you read, or `*`. If a caller has changed the resource since, the response is 412. What " +
    "changes by itself does not count.",
  "If-None-Match":
    "The ETag of an answer that you have. If it is still the same, the response is 304 without a body.",
  Prefer: "`wait=N`: the same as the parameter `wait`. The response then has `Preference-Applied`.",
  "X-Run-Source": "`CLI`, `GITHUB_ACTION` or `LOCAL`. Any other value means `API`.",
  [REQUEST_ID]:
    "The caller's own id of the request, returned with the response: 1 to 128 characters of `A-Z a-z 0-9 . _ : / " +
    "+ = ~ -`.",
  "Last-Event-ID": "The id of the last event that you received. The stream continues behind it.",
};

/** A placeholder for the error response of a status, which the document defines once. */
const PROBLEM = {
  content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Error" } } },
};

const UNCHANGED = { type: "null", description: "The answer that `If-None-Match` names is still the same." };

/** Describes a route for the document and adds what all routes have in common. */
export function describeRoute(route: Route): Described {
  const { schema, url } = jsonSchemaTransform(route);
  if (schema?.hide === true) {
    return { schema, url };
  }
  const { config } = route.route;
  const names = [...(config?.describedHeaders ?? []), ...conditionOf(route.route)];
  const described = {
    ...schema,
    ...describedHeaders([...names, REQUEST_ID]),
    ...mayLackBody(route.schema?.body),
    ...security(config),
    description: descriptionOf(schema?.description, config),
    response: {
      ...commonProblems(route.route, names),
      ...(names.includes("If-None-Match") ? { 304: UNCHANGED } : {}),
      ...Object(schema?.response),
    },
  };
  return { url, schema: described };
}

/** The precondition that a route of one resource has. */
function conditionOf({ config, method }: Pick<RouteOptions, "config" | "method">): readonly string[] {
  if (config?.edited === undefined) {
    return [];
  }
  return [method === "GET" ? "If-None-Match" : "If-Match"];
}

/** The library marks a schema that is referred to by name as required, even if the route does not require it. */
function mayLackBody(body: unknown): { [OPTIONAL_BODY]?: true } {
  return body instanceof z.ZodType && body.safeParse(undefined).success ? { [OPTIONAL_BODY]: true } : {};
}

function describedHeaders(names: readonly string[]): { headers: unknown } {
  const members = names.map((name) => [name, { type: "string", description: HEADERS[name] }]);
  return { headers: { type: "object", properties: Object.fromEntries(members) } };
}

const EDITS = ["PUT", "PATCH", "DELETE"];

/** The error responses that each route of its kind can have. */
function commonProblems(
  { config, method, url }: Pick<RouteOptions, "config" | "method" | "url">,
  headers: readonly string[],
): Record<string, unknown> {
  const statuses: ProblemStatus[] = [
    400,
    ...(isPublic(config) ? [] : ([401, 403] as const)),
    ...(url.includes(":") ? ([404] as const) : []),
    ...(method === "GET" ? [] : ([413, 415] as const)),
    ...(headers.includes(IDEMPOTENCY_KEY) ? ([409, 422] as const) : []),
    ...(EDITS.includes(String(method)) || headers.includes("If-Match") ? ([412] as const) : []),
    ...([429, 500, 503] as const),
  ];
  return Object.fromEntries(statuses.map((status) => [status, PROBLEM]));
}

type RouteConfig = RouteOptions["config"];

function isPublic(config: RouteConfig): boolean {
  return config?.public === true;
}

function security(config: RouteConfig): { security?: readonly { readonly key: readonly string[] }[] } {
  if (isPublic(config)) {
    return { security: [] };
  }
  return { security: [{ key: config?.scope === undefined || config.scope === "any" ? [] : [config.scope] }] };
}

/** Also as text, because few viewers of such documents show the scopes of a key. */
function descriptionOf(own: string | undefined, config: RouteConfig): string {
  const needs = isPublic(config) ? "Needs no key." : `Needs a key with ${scopeOf(config)}.`;
  return own === undefined ? needs : `${own}\n\n${needs}`;
}

function scopeOf(config: RouteConfig): string {
  return config?.scope === undefined || config.scope === "any"
    ? "any scope"
    : `the scope \`${config.scope}\``;
}
