import { z } from "zod";
import { ERROR_CODES } from "../../core/errors.ts";

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
  issues: [{ path: "title", message: "must have at most 300 characters" }],
};

const Issue = z.object({
  path: z.string().describe("The member's path, with dots."),
  message: z.string().describe("What it must be."),
});

const ProblemDetails = z
  .object({
    type: z.string().describe("A URI whose last segment is the code."),
    title: z.string().describe("The code in words."),
    status: z.int().describe("The HTTP status."),
    error: z.string().describe("For people: the title, with the detail where there is one."),
    detail: z.string().optional().describe("What went wrong this time."),
    instance: z.string().optional().describe("The path of the request."),
    retryable: z.boolean().optional().describe("Whether the same request may succeed later."),
    trace_id: z.string().optional().describe("Equals the X-Request-Id of the answer."),
    code: z.enum(ERROR_CODES).optional().describe("Branch on this, never on the text."),
    remedy: z.string().optional().describe("What to do next."),
    issues: z.array(Issue).optional().describe("For bad input: every member that is not as it must be."),
    auth_url: z.string().optional().describe("Where to log in, where that would help."),
    provider: z.string().optional().describe("Whose models or service it is about, where that is known."),
    integration_name: z.string().optional().describe("The integration that it is about, where there is one."),
    setup_url: z
      .string()
      .optional()
      .describe("Where to set up what is missing, where there is a page for it."),
  })
  .meta({ id: "Error", description: "Every refusal, as `application/problem+json`.", examples: [EXAMPLE] });

const DESCRIPTIONS = {
  400: "The request is not valid.",
  401: "The key is missing, malformed, revoked or expired.",
  403: "The key, or its principal, may not do this.",
  404: "Unknown, or not visible to this caller.",
  409: "The same request is still being worked on, or somebody else changed it meanwhile.",
  413: "The body is too large.",
  415: "The body is not JSON.",
  422: "Not available here, or the Idempotency-Key was used with another request.",
  429: "Too many requests, or too many streams.",
  500: "A bug of ours; the trace id finds it in the log.",
  503: "Not reachable right now.",
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

/** The refusals that a route documents; each comes in the shape of `Error`. */
export function problems<S extends ProblemStatus>(...statuses: S[]): { [Key in S]: ProblemResponse } {
  const content = { "application/problem+json": { schema: ProblemDetails } };
  const entries = statuses.map((status) => [status, { description: DESCRIPTIONS[status], content }]);
  return Object.fromEntries(entries) as { [Key in S]: ProblemResponse };
}
