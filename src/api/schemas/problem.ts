import { z } from "zod";
import { DEVICE_CODE_REASONS, ERROR_CODES } from "../../core/basics/errors.ts";

const EXAMPLE = {
  type: "https://errand.example.com/problems/invalid_request",
  title: "Invalid request",
  status: 400,
  error: "Invalid request: title: must have at most 300 characters",
  detail: "title: must have at most 300 characters",
  instance: "/api/v1/agent/runs",
  retryable: false,
  trace_id: "4f1c9a52-6f0e-4b7a-9a83-0d5c2e7b1a64",
  code: "invalid_request",
  remedy: "Change what `issues` or `detail` names and send the request again.",
  issues: [{ path: "title", message: "must have at most 300 characters", pointer: "/title" }],
};

const Issue = z.object({
  path: z.string().describe("The path of the member, separated by dots."),
  message: z.string().describe("The requirement that is not met."),
  pointer: z
    .string()
    .optional()
    .describe("For a member of the body: its JSON Pointer (RFC 6901), such as `/config/harness/type`."),
});

export const ProblemDetails = z
  .object({
    type: z.string().describe("A URI whose last segment is the code."),
    title: z.string().describe("The meaning of the code."),
    status: z.int().describe("The HTTP status."),
    error: z.string().describe("For people: the title, and the detail if there is one."),
    detail: z.string().optional().describe("What went wrong with this request."),
    instance: z.string().optional().describe("The path of the request."),
    retryable: z.boolean().optional().describe("Whether the same request may succeed later."),
    trace_id: z.string().optional().describe("The same value as X-Request-Id of the response."),
    code: z.enum(ERROR_CODES).optional().describe("Programs should decide by this code, never by the text."),
    remedy: z.string().optional().describe("How to fix the problem."),
    issues: z
      .array(Issue)
      .optional()
      .describe(
        "For invalid input: each member that is not valid. For a run that a policy refuses: the members that the " +
          "policy looks at.",
      ),
    reason: z
      .string()
      .optional()
      .describe(
        `For a device code, why there is no key: ${DEVICE_CODE_REASONS.map((one) => `\`${one}\``).join(", ")}.`,
      ),
    auth_url: z.string().optional().describe("Where to sign in, if that would help."),
    provider: z.string().optional().describe("The provider of the model or service, if known."),
    integration_name: z.string().optional().describe("The name of the integration, if there is one."),
    setup_url: z.string().optional().describe("Where to set up what is missing, if there is such a page."),
    current_etag: z
      .string()
      .optional()
      .describe("For a failed If-Match: the ETag of the resource as it is now."),
    matching_runs: z
      .int()
      .optional()
      .describe("For a cancellation by filter that expected another number: how many runs match."),
  })
  .meta({ id: "Error", description: "Every error, as `application/problem+json`.", examples: [EXAMPLE] });

const DESCRIPTIONS = {
  400: "The request is not valid.",
  401: "The key is missing, malformed, revoked or expired.",
  403: "The key or its principal is not allowed to do this.",
  404: "The resource does not exist or is not visible to this caller.",
  409: "The same request is still in progress, or the resource was changed at the same time.",
  412: "The resource is not the version that If-Match names.",
  413: "The body is too large.",
  415: "The body is not JSON.",
  422: "The operation is not available here, or the Idempotency-Key was used with another request.",
  429: "Too many requests or too many open streams.",
  500: "An error of the server. The log contains the trace id.",
  503: "The service is not available at the moment.",
} as const;
export type ProblemStatus = keyof typeof DESCRIPTIONS;
export const PROBLEM_STATUSES = Object.keys(DESCRIPTIONS).map(Number) as readonly ProblemStatus[];

export function problemDescription(status: ProblemStatus): string {
  return DESCRIPTIONS[status];
}

interface ProblemResponse {
  readonly description: string;
  readonly content: { readonly "application/problem+json": { readonly schema: typeof ProblemDetails } };
}

/** The documented errors of a route, each in the format of `Error`. */
export function problems<S extends ProblemStatus>(...statuses: S[]): { [Key in S]: ProblemResponse } {
  const content = { "application/problem+json": { schema: ProblemDetails } };
  const entries = statuses.map((status) => [status, { description: DESCRIPTIONS[status], content }]);
  return Object.fromEntries(entries) as { [Key in S]: ProblemResponse };
}
