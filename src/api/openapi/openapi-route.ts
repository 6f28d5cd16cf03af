import type { RouteOptions } from "fastify";
import { jsonSchemaTransform } from "fastify-type-provider-zod";
import { z } from "zod";
import type { ProblemStatus } from "../schemas/problem.ts";
import { OPTIONAL_BODY } from "./openapi-responses.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Headers that the route reads, named in the OpenAPI document. */
    readonly describedHeaders?: readonly string[];
  }
}

type Route = Parameters<typeof jsonSchemaTransform>[0];
type Described = ReturnType<typeof jsonSchemaTransform>;

const IDEMPOTENCY_KEY = "Idempotency-Key";
const REQUEST_ID = "X-Request-Id";
const HEADERS: Readonly<Record<string, string>> = {
  [IDEMPOTENCY_KEY]:
    "Makes a repeat safe: the same key with the same request gives the first answer again, for 24 hours.",
  "X-Run-Source": "`CLI`, `GITHUB_ACTION` or `LOCAL`; anything else counts as `API`.",
  [REQUEST_ID]:
    "The caller's own id for the request, given back with the answer: 1 to 128 of `A-Z a-z 0-9 . _ : / + = ~ -`.",
  "Last-Event-ID": "The id of the last event that was seen; the stream goes on behind it.",
};

/** Stands for the refusal of its status, which the document names once. */
const PROBLEM = {
  content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Error" } } },
};

/** A route as the document shows it: with what it has in common with all others added. */
export function describeRoute(route: Route): Described {
  const { schema, url } = jsonSchemaTransform(route);
  if (schema?.hide === true) return { schema, url };
  const { config } = route.route;
  const names = config?.describedHeaders ?? [];
  const described = {
    ...schema,
    ...describedHeaders([...names, REQUEST_ID]),
    ...mayLackBody(route.schema?.body),
    ...security(config),
    description: descriptionOf(schema?.description, config),
    response: { ...commonProblems(route.route, names), ...Object(schema?.response) },
  };
  return { url, schema: described };
}

/** What is referred to by name counts as required, whatever the route takes. */
function mayLackBody(body: unknown): { [OPTIONAL_BODY]?: true } {
  return body instanceof z.ZodType && body.safeParse(undefined).success ? { [OPTIONAL_BODY]: true } : {};
}

function describedHeaders(names: readonly string[]): { headers: unknown } {
  const members = names.map((name) => [name, { type: "string", description: HEADERS[name] }]);
  return { headers: { type: "object", properties: Object.fromEntries(members) } };
}

/** What every route of its kind may be answered with, whether or not it says so itself. */
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
    ...([429, 500, 503] as const),
  ];
  return Object.fromEntries(statuses.map((status) => [status, PROBLEM]));
}

type RouteConfig = RouteOptions["config"];

function isPublic(config: RouteConfig): boolean {
  return config?.public === true;
}

function security(config: RouteConfig): { security?: readonly { readonly key: readonly string[] }[] } {
  if (isPublic(config)) return { security: [] };
  return { security: [{ key: config?.scope === undefined || config.scope === "any" ? [] : [config.scope] }] };
}

/** In words too, because few readers of such documents show the scopes of a key. */
function descriptionOf(own: string | undefined, config: RouteConfig): string {
  const needs = isPublic(config) ? "Needs no key." : `Needs a key with ${scopeOf(config)}.`;
  return own === undefined ? needs : `${own}\n\n${needs}`;
}

function scopeOf(config: RouteConfig): string {
  return config?.scope === undefined || config.scope === "any"
    ? "any scope"
    : `the scope \`${config.scope}\``;
}
