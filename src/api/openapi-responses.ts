import { PROBLEM_STATUSES, type ProblemStatus, problemDescription } from "./schemas/problem.ts";

interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, { readonly schema?: { readonly $ref?: string } }>>;
}
type Reference = { readonly $ref: string };
interface Operation {
  readonly parameters?: readonly { readonly name: string }[];
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
  const paths = mapValues(document.paths ?? {}, (operations) =>
    mapValues(operations, (operation) => describeOperation(operation, schemas)),
  );
  const responses = Object.fromEntries(
    PROBLEM_STATUSES.map((status) => [problemName(status), refusal(status)]),
  );
  return { ...document, paths, components: { ...document.components, responses, headers: HEADERS } };
}

function describeOperation(operation: Operation, schemas: Schemas): Operation {
  const isReplayed = operation.parameters?.some(({ name }) => name === "Idempotency-Key") ?? false;
  const names: readonly HeaderName[] = isReplayed ? [...LIMITED, "Idempotent-Replay"] : LIMITED;
  const responses = mapValues(operation.responses, (response, status) => {
    const problem = PROBLEM_STATUSES.find((known) => String(known) === status);
    if (problem !== undefined) return { $ref: `#/components/responses/${problemName(problem)}` };
    return "$ref" in response ? response : describeAnswer(response, names, schemas);
  });
  return { ...operation, responses };
}

function describeAnswer(response: Response, names: readonly HeaderName[], schemas: Schemas): Response {
  return {
    ...response,
    description: descriptionOf(response, schemas),
    headers: { ...headers(names), ...response.headers },
  };
}

function refusal(status: ProblemStatus): Response {
  const names: readonly HeaderName[] = RETRYABLE.has(status)
    ? [...LIMITED, "x-should-retry", "Retry-After", "retry-after-ms"]
    : [...LIMITED, "x-should-retry"];
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
