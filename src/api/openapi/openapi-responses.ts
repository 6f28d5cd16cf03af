import { PROBLEM_STATUSES, type ProblemStatus, problemDescription } from "../schemas/problem.ts";
import { type Parameter, withExample } from "./openapi-parameters.ts";

interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, { readonly schema?: { readonly $ref?: string } }>>;
}
type Reference = { readonly $ref: string };
/** Marks an operation that takes a body and does without. */
export const OPTIONAL_BODY = "x-optional-body";
const DEPRECATIONS: readonly HeaderName[] = ["Deprecation", "Sunset", "Link"];

interface Operation {
  readonly [OPTIONAL_BODY]?: boolean;
  readonly deprecated?: boolean;
  readonly requestBody?: object;
  readonly parameters?: readonly Parameter[];
  readonly responses: Readonly<Record<string, Response | Reference>>;
}
type Schemas = Readonly<Record<string, unknown>>;
interface Document {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Schemas };
}

const NUMBER = { type: "integer" };
const TEXT = { type: "string" };
const FLAG = { type: "boolean" };

/** Headers of answers, named once and referred to. */
const HEADERS = {
  "X-Request-Id": { description: "The caller's own id for the request, or a new one.", schema: TEXT },
  "RateLimit-Policy": {
    description: 'What is allowed: `"key";q=600;w=60`, 600 in 60 seconds.',
    schema: TEXT,
  },
  RateLimit: { description: 'What is left: `"key";r=599;t=42`, 599 in the next 42 seconds.', schema: TEXT },
  "X-RateLimit-Limit": { description: "Requests a minute.", schema: NUMBER },
  "X-RateLimit-Remaining": { description: "Requests that are left.", schema: NUMBER },
  "X-RateLimit-Reset": { description: "Seconds until they are counted anew.", schema: NUMBER },
  "x-should-retry": { description: "Whether the same request may succeed later.", schema: FLAG },
  "Retry-After": { description: "Seconds to wait, where a repeat helps.", schema: NUMBER },
  "retry-after-ms": { description: "The same in milliseconds.", schema: NUMBER },
  "WWW-Authenticate": { description: "`Bearer`: a key is needed.", schema: TEXT },
  Location: { description: "Where it is.", schema: TEXT },
  Deprecation: {
    description:
      "Since when the operation is deprecated, as `@` and seconds; with its refusals too (RFC 9745).",
    schema: TEXT,
  },
  Sunset: { description: "Until when it is there at least; with its refusals too (RFC 8594).", schema: TEXT },
  Link: { description: "Where the deprecation is explained; with its refusals too.", schema: TEXT },
  "Idempotent-Replay": { description: "`true`: this is the first answer again.", schema: FLAG },
} as const;
type HeaderName = keyof typeof HEADERS;

const LIMITED: readonly HeaderName[] = [
  "X-Request-Id",
  "RateLimit-Policy",
  "RateLimit",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
];
const RETRYABLE: ReadonlySet<ProblemStatus> = new Set([409, 429, 503]);
/** What the schema library says where a route says nothing. */
const NOTHING_SAID = "Default Response";

/** Adds the headers that answers come with, names refusals once, and finds words where there are none. */
export function describeResponses<T extends Document>(document: T): T {
  const schemas = document.components?.schemas ?? {};
  const paths = mapValues(document.paths ?? {}, (operations, path) =>
    mapValues(operations, (operation) => withExamples(describeOperation(operation, schemas), path)),
  );
  const responses = Object.fromEntries(
    PROBLEM_STATUSES.map((status) => [problemName(status), refusal(status)]),
  );
  return { ...document, paths, components: { ...document.components, responses, headers: HEADERS } };
}

function withExamples(operation: Operation, path: string): Operation {
  const { parameters } = operation;
  if (parameters === undefined) return operation;
  return { ...operation, parameters: parameters.map((parameter) => withExample(parameter, path)) };
}

function describeOperation(operation: Operation, schemas: Schemas): Operation {
  const isReplayed = operation.parameters?.some(({ name }) => name === "Idempotency-Key") ?? false;
  const names: readonly HeaderName[] = [
    ...LIMITED,
    ...(isReplayed ? (["Idempotent-Replay"] as const) : []),
    ...(operation.deprecated === true ? DEPRECATIONS : []),
  ];
  const responses = mapValues(operation.responses, (response, status) => {
    const problem = PROBLEM_STATUSES.find((known) => String(known) === status);
    if (problem !== undefined) return { $ref: `#/components/responses/${problemName(problem)}` };
    const told: readonly HeaderName[] = status === "302" ? [...names, "Location"] : names;
    return "$ref" in response ? response : describeAnswer(response, told, schemas);
  });
  const { [OPTIONAL_BODY]: isOptional, requestBody, ...others } = operation;
  const body = isOptional === true ? { ...requestBody, required: false } : requestBody;
  return { ...others, ...(body && { requestBody: body }), responses };
}

function describeAnswer(response: Response, names: readonly HeaderName[], schemas: Schemas): Response {
  return {
    ...response,
    description: descriptionOf(response, schemas),
    headers: { ...headers(names), ...response.headers },
  };
}

function refusal(status: ProblemStatus): Response {
  const names: readonly HeaderName[] = [
    ...LIMITED,
    "x-should-retry",
    ...(RETRYABLE.has(status) ? (["Retry-After", "retry-after-ms"] as const) : []),
    ...(status === 401 ? (["WWW-Authenticate"] as const) : []),
  ];
  return {
    description: problemDescription(status),
    headers: headers(names),
    content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Error" } } },
  };
}

function problemName(status: ProblemStatus): string {
  return `Problem${status}`;
}

function headers(names: readonly HeaderName[]): Record<string, Reference> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function descriptionOf({ description, content }: Response, schemas: Schemas): string {
  if (description !== NOTHING_SAID) return description;
  const reference = content?.["application/json"]?.schema?.$ref ?? "";
  const schema = schemas[reference.split("/").at(-1) ?? ""];
  return String(Object(schema).description ?? description);
}

function mapValues<From, To>(
  members: Readonly<Record<string, From>>,
  change: (member: From, name: string) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, change(member, name)]));
}
