import { defined } from "../../core/basics/defined.ts";
import { PROBLEM_STATUSES, type ProblemStatus, problemDescription } from "../schemas/problem.ts";
import { type Parameter, withExample } from "./openapi-parameters.ts";

interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, { readonly schema?: { readonly $ref?: string } }>>;
}
type Reference = { readonly $ref: string };
/** Marks an operation whose body is optional. */
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

/** Response headers. The document defines them once and refers to them. */
const HEADERS = {
  "X-Request-Id": { description: "The caller's own id of the request, or a new one.", schema: TEXT },
  "Errand-Version": { description: "The version of the server.", schema: TEXT },
  "Errand-Ignored": {
    description:
      "Query keys and paths of members of the body that were accepted and have no effect, separated by commas. " +
      "Characters that a header or the list cannot contain are percent-encoded. Absent if there are none. A list " +
      "that is too long ends with `...`.",
    schema: TEXT,
  },
  "RateLimit-Policy": {
    description:
      'The limit: `"principal";q=600;w=60` means 600 requests in 60 seconds, refilled continuously.',
    schema: TEXT,
  },
  RateLimit: {
    description:
      'The remainder: `"principal";r=599;t=1` means that 599 requests pass now, and the bucket is full in one second. ' +
      "If none passes, `t` is the wait for the next one.",
    schema: TEXT,
  },
  "X-RateLimit-Limit": { description: "The number of requests in a full bucket.", schema: NUMBER },
  "X-RateLimit-Remaining": { description: "The number of requests that are left.", schema: NUMBER },
  "X-RateLimit-Reset": { description: "The same as `t` of `RateLimit`.", schema: NUMBER },
  "x-should-retry": { description: "Whether the same request may succeed later.", schema: FLAG },
  "Retry-After": { description: "Seconds to wait before a repeat.", schema: NUMBER },
  "retry-after-ms": { description: "Milliseconds to wait before a repeat.", schema: NUMBER },
  "WWW-Authenticate": { description: "`Bearer`: a key is required.", schema: TEXT },
  ETag: {
    description:
      "The version of the resource for this caller. Send it with `If-Match` to change just this version, or with " +
      "`If-None-Match` to read only what is new.",
    schema: TEXT,
  },
  Location: { description: "The address of the resource.", schema: TEXT },
  Deprecation: {
    description: "When the operation was deprecated, as `@` and seconds. Also sent with errors (RFC 9745).",
    schema: TEXT,
  },
  Sunset: {
    description: "The earliest time at which the operation may be removed. Also sent with errors (RFC 8594).",
    schema: TEXT,
  },
  Link: { description: "An explanation of the deprecation. Also sent with errors.", schema: TEXT },
  "Idempotent-Replay": { description: "`true`: this response repeats the first response.", schema: FLAG },
} as const;
type HeaderName = keyof typeof HEADERS;

const COMMON: readonly HeaderName[] = [
  "X-Request-Id",
  "Errand-Version",
  "Errand-Ignored",
  "RateLimit-Policy",
  "RateLimit",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
];
const RETRYABLE: ReadonlySet<ProblemStatus> = new Set([409, 429, 503]);
/** The library's description of a response without one. */
const DEFAULT_DESCRIPTION = "Default Response";

/** Adds the response headers, defines the error responses once, and fills in missing descriptions. */
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
  if (parameters === undefined) {
    return operation;
  }
  return { ...operation, parameters: parameters.map((parameter) => withExample(parameter, path)) };
}

function describeOperation(operation: Operation, schemas: Schemas): Operation {
  const isReplayed = operation.parameters?.some(({ name }) => name === "Idempotency-Key") ?? false;
  const isTagged = operation.parameters?.some(({ name }) => /^If-(?:None-)?Match$/.test(name)) ?? false;
  const names: readonly HeaderName[] = [
    ...COMMON,
    ...(isTagged ? (["ETag"] as const) : []),
    ...(isReplayed ? (["Idempotent-Replay"] as const) : []),
    ...(operation.deprecated === true ? DEPRECATIONS : []),
  ];
  const responses = mapValues(operation.responses, (response, status) => {
    const problem = PROBLEM_STATUSES.find((known) => String(known) === status);
    if (problem !== undefined) {
      return { $ref: `#/components/responses/${problemName(problem)}` };
    }
    const headerNames: readonly HeaderName[] = ["201", "302"].includes(status)
      ? [...names, "Location"]
      : names;
    return "$ref" in response ? response : describeAnswer(response, headerNames, schemas);
  });
  const { [OPTIONAL_BODY]: isOptional, requestBody, ...others } = operation;
  const body = isOptional === true ? { ...requestBody, required: false } : requestBody;
  return { ...others, ...defined({ requestBody: body ? body : undefined }), responses };
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
    ...COMMON,
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
  if (description !== DEFAULT_DESCRIPTION) {
    return description;
  }
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
